// Package delivery is what links over a network have in common once the
// handshake is done: which frames are acknowledged, and the words of a stream's
// end.
//
// # Acknowledgements
//
// Both sides count the bytes of data frames, headers included. The frame by
// which the count reaches [AckBytes], or [RareAckBytes], is acknowledged, and the count begins
// again at zero. An acknowledgement covers all frames before its own. So both
// sides know which frames are acknowledged, and in which order: the sender
// takes nothing else.
//
// Where a broken connection is replaced, the receiver says in the handshake which
// [Position] it goes on from; that acknowledges all before it, and both counts
// begin again at zero.
package delivery
