package interpreter

// stringOps returns the operations of this file.
func stringOps() []op { return nil }
