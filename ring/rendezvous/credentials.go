package rendezvous

import (
	"context"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"ringtrain/ring/token"
)

// provedCredentials pass the proved request of a connection to the handlers of its calls. Below gRPC
// lie TLS and the proof, so gRPC itself uses none of its own.
type provedCredentials struct {
	credentials.TransportCredentials
}

// provedRequest is the request as gRPC carries it.
type provedRequest token.Request

// AuthType names the exchange.
func (provedRequest) AuthType() string { return "token" }

// ServerHandshake returns the request of c, a *token.Conn.
func (provedCredentials) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c, provedRequest(c.(*token.Conn).Request), nil
}

// requestOf returns the request of the connection that a call came over, if it has the purpose.
func requestOf(ctx context.Context, purpose token.Purpose) (token.Request, error) {
	from, _ := peer.FromContext(ctx)
	r, ok := from.AuthInfo.(provedRequest)
	if !ok || r.Purpose != purpose {
		return token.Request{}, errPurpose
	}
	return token.Request(r), nil
}
