package interpreter

// raggedOps returns the operations of this file.
func raggedOps() []op { return nil }
