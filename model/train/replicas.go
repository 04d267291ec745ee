package train

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"
	"unsafe"

	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/bucket"
	"ringtrain/ring/exitcode"
)

// Replicas are compared in two ways.
//
// Every CheckEvery steps the first bytes of the digest travel in the tails of the next step's
// gradients, at the cost of computing the digest. Variables by rows enter it as a running digest of
// the updated rows: a row that differs is found in the next step that updates the row, or before a
// checkpoint.
//
// Before each checkpoint and at the end the ranks gather whole digests. So the saved state is the
// compared state.

// checkDue reports whether the tails of the coming step, or of the step just summed, carry digests. It
// is the same on all ranks.
func (l *Loop) checkDue() bool {
	return l.CheckEvery > 0 && l.Step > 0 && l.Step%l.CheckEvery == 0
}

// tailDigest returns the first 8 bytes of this replica's digest, combined with the digest of the
// updated rows.
func (l *Loop) tailDigest() uint64 {
	if l.hasher == nil {
		l.hasher = newHasher(slices.DeleteFunc(slices.Clone(l.Model.Variables()), func(v *model.Variable) bool { return v.ByRows }))
	}
	d := l.hasher.digest()
	return binary.BigEndian.Uint64(d[:]) ^ l.Mix
}

// compareTails checks that the tails of all ranks carry the same digest.
func (l *Loop) compareTails(tails []bucket.Tail) error {
	equal := true
	for _, t := range tails {
		equal = equal && t.Digest == tails[0].Digest
	}
	if equal {
		return nil
	}
	digests := make([]string, len(tails))
	for rank, t := range tails {
		digests[rank] = fmt.Sprintf("%016x", t.Digest)
	}
	return diverged(l.Group.Membership(), digests, l.Step)
}

// compareReplicas checks that all ranks hold the same bits and returns the digest. It is collective.
func compareReplicas(ctx context.Context, g *ring.Group, vars []*model.Variable, step int64) (string, error) {
	mine := Digest(vars)
	all, err := gatherEqual(ctx, g, mine[:])
	if err != nil {
		return "", err
	}
	digests := make([]string, g.Membership().Size())
	equal := true
	for rank := range digests {
		digests[rank] = hex.EncodeToString(all.At(rank))
		equal = equal && digests[rank] == digests[0]
	}
	if !equal {
		return "", diverged(g.Membership(), digests, step)
	}
	return digests[0], nil
}

// diverged returns the error of replicas that differ after a step, with exitcode.Diverged. It is the
// same on all ranks. It names the ranks that differ from the majority, or all ranks if there is no
// majority, as between two ranks.
func diverged(m ring.Membership, digests []string, step int64) error {
	c := &ring.Cause{Rank: -1, Step: step, Operation: "compare replicas", ExitCode: exitcode.Diverged}
	right, ok := majority(digests)
	var odd []int
	for rank, d := range digests {
		if !ok || d != right {
			odd = append(odd, rank)
		}
	}
	c.Text = "replicas diverged: digest of the variables is " + digestList(odd, digests)
	if !ok {
		c.Text += "; no majority tells which is right"
		return c
	}
	c.Text += fmt.Sprintf(", want %s as on %d of %d ranks", right, len(digests)-len(odd), len(digests))
	if len(odd) == 1 {
		c.Rank, c.Host = odd[0], m.Workers[odd[0]].Host
	}
	return c
}

// majority returns the digest of more than half of the ranks.
func majority(digests []string) (string, bool) {
	votes := map[string]int{}
	for _, d := range digests {
		if votes[d]++; 2*votes[d] > len(digests) {
			return d, true
		}
	}
	return "", false
}

// digestList returns the digests of the ranks as text, of up to four of them.
func digestList(ranks []int, digests []string) string {
	const most = 4
	var all []string
	for _, r := range ranks[:min(len(ranks), most)] {
		all = append(all, fmt.Sprintf("%s on rank %d", digests[r], r))
	}
	if more := len(ranks) - most; more > 0 {
		all = append(all, fmt.Sprintf("another on %d more", more))
	}
	return strings.Join(all, ", ")
}

// Digest returns the SHA-256 of the variables in bytewise order of names. Each variable adds its name,
// a zero byte, and its values as little-endian bytes. Replicas, and runs, with equal digests have
// equal bits.
func Digest(vars []*model.Variable) [sha256.Size]byte { return newHasher(vars).digest() }

// A hasher computes the digest of variables repeatedly without allocation.
type hasher struct {
	vars  []*model.Variable // in bytewise order of names
	names [][]byte          // each with the zero byte
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

// bytesOf views values as their little-endian bytes. ring.New refuses to run on a big-endian machine.
func bytesOf(values []float32) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
}

// gatherEqual gathers the bytes of all ranks, which must send as many as mine has. Another number is
// an error with exitcode.Protocol.
func gatherEqual(ctx context.Context, g *ring.Group, mine []byte) (*ring.Gathered, error) {
	all := new(ring.Gathered)
	if err := g.AllGather(ctx, mine, all); err != nil {
		return nil, err
	}
	for rank := range g.Membership().Size() {
		if n := len(all.At(rank)); n != len(mine) {
			return nil, exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %d bytes, want %d", rank, n, len(mine)))
		}
	}
	return all, nil
}
