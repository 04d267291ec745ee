package interpreter

// tableOps returns the operations of this file.
func tableOps() []op { return nil }
