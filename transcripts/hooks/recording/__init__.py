"""The recorder of hook events, and how it is registered with each harness and taken out again."""
