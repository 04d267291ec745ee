package interpreter

// arrayOps returns the operations of this file.
func arrayOps() []op { return nil }
