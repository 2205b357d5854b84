"""Text → nodes: YAML and JSON as lists of scalars that keep their place, whatever they come to mean."""
