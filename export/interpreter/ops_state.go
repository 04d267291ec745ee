package interpreter

// stateOps returns the operations of this file.
func stateOps() []op { return nil }
