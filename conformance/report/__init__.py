"""The matrix for people and for machines: every view is a pure function of the cells."""
