"""What a log comes to: counted in one pass, kept small, told turn by turn."""
