package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Digest is the SHA-256 of the variables: for each in bytewise order of names
// its name, a zero byte, its values as little-endian bytes. Replicas, and runs,
// with equal digests have equal bits.
func Digest(vars []*model.Variable) [sha256.Size]byte {
	sorted := slices.Clone(vars)
	slices.SortFunc(sorted, func(a, b *model.Variable) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, v := range sorted {
		h.Write([]byte(v.Name))
		h.Write([]byte{0})
		h.Write(bytesOf(v.Value))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// compareReplicas checks that all ranks hold the same bits and returns the
// digest. A rank that differs from the majority is named (from rank 0, where
// there is no majority) by an error with exitcode.Diverged; it is the same on
// all ranks.
func compareReplicas(ctx context.Context, g *ring.Group, vars []*model.Variable, step int64) (string, error) {
	mine := Digest(vars)
	all, err := gatherEqual(ctx, g, mine[:])
	if err != nil {
		return "", err
	}
	size := g.Membership().Size()
	right, votes := 0, 0 // the first of the largest number of equal ranks
	for r := range size {
		n := 0
		for q := range size {
			if bytes.Equal(all.At(r), all.At(q)) {
				n++
			}
		}
		if n > votes {
			right, votes = r, n
		}
	}
	for r := range size {
		if !bytes.Equal(all.At(r), all.At(right)) {
			return "", &ring.Cause{
				Rank: r, Host: g.Membership().Workers[r].Host, Step: step, Operation: "compare replicas",
				Text: fmt.Sprintf("replicas diverged: digest of the variables is %x, want %x as on rank %d",
					all.At(r), all.At(right), right),
				ExitCode: exitcode.Diverged,
			}
		}
	}
	return hex.EncodeToString(mine[:]), nil
}
