package interpreter

// mathOps returns the operations of this file.
func mathOps() []op { return nil }
