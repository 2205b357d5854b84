"""Changes of real engines, as teams make them: a failure names the kind of a change only where that is true."""
