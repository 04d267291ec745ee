// Package ringpb holds the messages of ringtrain's control plane and the code
// generated from them. Package ring/rendezvous gives them their meaning.
package ringpb

//go:generate sh generate.sh
