package place

import (
	"fmt"

	"ringtrain/ring/launch/internal/environ"
)

// numberNames are the variables of one dialect for the four numbers of a place.
type numberNames struct{ rank, size, localRank, localSize string }

// readNumbers stores the four numbers in p. The rank must be set. Without a size p gets 0.
// The local numbers may be missing.
func readNumbers(e environ.Vars, n numberNames, p *Place) error {
	var err error
	if p.WorldSize, err = e.Int(n.size, 1, 0); err != nil {
		return err
	}
	if p.Rank, err = e.Int(n.rank, 0, -1); err != nil {
		return err
	}
	if p.WorldSize > 0 && p.Rank >= p.WorldSize {
		return fmt.Errorf("%s is %d, want 0 to %d: %s is %d", n.rank, p.Rank, p.WorldSize-1, n.size, p.WorldSize)
	}
	return readLocalNumbers(e, n, p)
}

// readLocalNumbers stores the local rank and the local size in p, if they are set.
func readLocalNumbers(e environ.Vars, n numberNames, p *Place) error {
	var err error
	if p.LocalSize, err = e.Int(n.localSize, 1, 0); err != nil {
		return err
	}
	if p.LocalRank, err = e.Int(n.localRank, 0, -1); err != nil {
		return err
	}
	if p.WorldSize > 0 && p.LocalSize > p.WorldSize {
		return fmt.Errorf("%s is %d, want at most the world size, %d", n.localSize, p.LocalSize, p.WorldSize)
	}
	if p.LocalSize > 0 && p.LocalRank >= p.LocalSize {
		return fmt.Errorf("%s is %d, want 0 to %d: %s is %d", n.localRank, p.LocalRank, p.LocalSize-1, n.localSize, p.LocalSize)
	}
	return nil
}
