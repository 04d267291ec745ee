package rendezvous

import (
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// handshake is the server's side of the proof of the token: a challenge answers the
// hello, and then comes the proof.
type handshake struct {
	token  token.Token
	worker []byte // nonces
	server []byte
	proved bool
}

// begun tells whether there was a challenge.
func (h *handshake) begun() bool { return h.worker != nil }

// challenge proves our token; nil if it is not the time, or no hello.
func (h *handshake) challenge(hello *pb.Hello) *pb.Challenge {
	if h.begun() || len(hello.GetNonce()) != nonceBytes {
		return nil
	}
	h.worker, h.server = hello.GetNonce(), newNonce()
	return &pb.Challenge{Nonce: h.server, Proof: serverProof(h.token, h.worker, h.server)}
}

// prove tells whether the other side has the token. It is called once, after the
// challenge.
func (h *handshake) prove(proof []byte) bool {
	h.proved = h.token.Proves(proof, []byte("rendezvous: worker"), h.worker, h.server)
	return h.proved
}
