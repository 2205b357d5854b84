"""What every room needs to word and write something: text from outside, display width, numbers, whole files."""
