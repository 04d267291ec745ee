package checkpoint

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
)

// sameFiles tells whether two folders hold files of the same names and content.
// What cannot be read is not the same.
func sameFiles(a, b string) bool {
	inA, errA := os.ReadDir(a)
	inB, errB := os.ReadDir(b)
	if errA != nil || errB != nil || len(inA) != len(inB) {
		return false
	}
	for i, e := range inA {
		name := e.Name()
		if name != inB[i].Name() || !sameFile(filepath.Join(a, name), filepath.Join(b, name)) {
			return false
		}
	}
	return true
}

func sameFile(a, b string) bool {
	fa, err := os.Open(a)
	if err != nil {
		return false
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false
	}
	defer fb.Close()
	bufA, bufB := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, errA := io.ReadFull(fa, bufA)
		m, errB := io.ReadFull(fb, bufB)
		if !bytes.Equal(bufA[:n], bufB[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return atEnd(errA) && atEnd(errB)
		}
	}
}

func atEnd(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
