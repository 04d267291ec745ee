// Package joblist lists the rendezvous that this user's processes serve on this host, so
// that `ringtrain status` finds them without an address and without a token.
//
// [Add] writes a file for a rendezvous into the user's runtime folder, and the file goes
// with the rendezvous or its process ([token.Hold]). [Read] reads the files of all living
// processes.
package joblist
