// Package joblist lists the rendezvous that this user's processes serve on this host, so
// that `ringtrain status` finds them without an address and without a token.
//
// [Add] writes a file for a rendezvous and removes it when the rendezvous ends. [Read]
// reads the files. They lie in the user's runtime folder, with mode 0600:
//
//	$XDG_RUNTIME_DIR/ringtrain/<pid>-<random>.job
//	the user's cache folder, ringtrain/jobs/, without XDG_RUNTIME_DIR
//	the folder for temporary files, ringtrain-<uid>/, without a cache folder
//
// # Invariants
//
//   - The process holds a lock on its file. A file without a lock is of a dead process, and
//     the next reader removes it.
//   - Nothing in a file or a folder is believed that another user could have written.
package joblist
