// Package delivery has the parts that links over a network share after the handshake:
// acknowledgements, and the end of a stream.
//
// # Acknowledgements
//
// Both sides count the bytes of data frames, including headers. The frame that brings the
// count to [AckBytes], or [RareAckBytes], is acknowledged, and the count starts again at
// zero. An acknowledgement covers all frames before its own. Both sides therefore know
// which frames are acknowledged, and in which order. The sender accepts no other
// acknowledgement.
//
// When a broken connection is replaced, the receiver states in the handshake the
// [Position] at which it continues. This acknowledges all frames before it, and both counts
// start again at zero.
package delivery
