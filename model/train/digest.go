package train

import (
	"crypto/sha256"
	"hash"
	"slices"
	"strings"

	"ringtrain/model"
)

// Digest is the SHA-256 of the variables: for each in bytewise order of names
// its name, a zero byte, its values as little-endian bytes. Replicas, and runs,
// with equal digests have equal bits.
func Digest(vars []*model.Variable) [sha256.Size]byte { return newHasher(vars).digest() }

// A hasher makes the digest of variables again and again, without allocating.
type hasher struct {
	vars  []*model.Variable // in bytewise order of names
	names [][]byte          // with the zero byte
	sha   hash.Hash
	sum   [sha256.Size]byte
}

func newHasher(vars []*model.Variable) *hasher {
	h := &hasher{vars: slices.Clone(vars), sha: sha256.New()}
	slices.SortFunc(h.vars, func(a, b *model.Variable) int { return strings.Compare(a.Name, b.Name) })
	for _, v := range h.vars {
		h.names = append(h.names, append([]byte(v.Name), 0))
	}
	return h
}

func (h *hasher) digest() [sha256.Size]byte {
	h.sha.Reset()
	for i, v := range h.vars {
		h.sha.Write(h.names[i])
		h.sha.Write(bytesOf(v.Value))
	}
	h.sha.Sum(h.sum[:0])
	return h.sum
}
