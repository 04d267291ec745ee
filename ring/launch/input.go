package launch

import (
	"bytes"
	"os"
	"sync"
)

// Standard input goes to rank 0. On this host the rank inherits the file. To another host the
// input goes chunk by chunk: its agent asks for the next one when the rank's pipe has taken the
// one before. The launcher therefore reads no faster than the rank.
//
//	launcher ── input ──►  agent ──pipe──► rank 0
//	         ◄── more ───

const (
	// maxInput bounds a chunk of input, in bytes.
	maxInput = 64 << 10
	// maxChunks bounds the chunks that wait in an agent: the one that it has asked for, and
	// those that ranks started before have asked for.
	maxChunks = 16
)

// inputFeed reads the launcher's standard input for a rank 0 on another host.
type inputFeed struct {
	file  *os.File // nil: none
	begin sync.Once
	wants chan *login // agents that ask for a chunk
	done  <-chan struct{}
}

// ask has the next chunk sent by g.
func (f *inputFeed) ask(g *login) {
	if f.file == nil {
		return
	}
	f.begin.Do(func() { go f.serve() })
	for {
		select {
		case f.wants <- g:
			return
		default:
		}
		select {
		case <-f.wants: // of a rank that was started again since
		default:
		}
	}
}

// serve sends a chunk for each request, and an empty one for each after the end of the input. A
// rank 0 that is started again gets the chunk that the one before has asked for. The goroutine
// may wait for input until this process ends.
func (f *inputFeed) serve() {
	chunk := make([]byte, maxInput)
	for {
		var g *login
		select {
		case g = <-f.wants:
		case <-f.done:
			return
		}
		n, _ := f.file.Read(chunk) // an error is the end, too
		select {
		case g = <-f.wants:
		default:
		}
		g.enqueue(frame{kindInput, 0, bytes.Clone(chunk[:max(n, 0)])})
	}
}

// rankInput is the agent's end: the pipe of a rank.
type rankInput struct {
	pipe   *os.File
	chunks chan []byte
	over   chan struct{} // closed when no process of the rank is left
}

// newRankInput returns the pipe of a rank, and its end for the rank.
func newRankInput() (in *rankInput, end *os.File, err error) {
	end, pipe, err := os.Pipe()
	return &rankInput{pipe, make(chan []byte, maxChunks), make(chan struct{})}, end, err
}

// copy writes the chunks to the pipe, each of which it asks for by more, until an empty one.
func (in *rankInput) copy(more func()) {
	defer in.pipe.Close()
	for {
		more()
		select {
		case chunk := <-in.chunks:
			if _, err := in.pipe.Write(chunk); err != nil || len(chunk) == 0 {
				return
			}
		case <-in.over:
			return
		}
	}
}

// put passes a chunk to copy. It reports whether there is room, as there is if copy has asked.
func (in *rankInput) put(chunk []byte) bool {
	if in == nil {
		return false
	}
	select {
	case in.chunks <- chunk:
		return true
	default:
		return false
	}
}

// end ends copy, which may wait for the rank to read.
func (in *rankInput) end() {
	if in != nil {
		close(in.over)
		in.pipe.Close()
	}
}
