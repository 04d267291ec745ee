package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// countable is a data set of the job, with the key of its manifest.
type countable struct {
	key  string
	data input.Dataset
}

func (t *Trainer) countables() []countable {
	all := []countable{{"input.train.manifest", t.data.Train}}
	if t.data.Eval != nil && t.data.Eval != t.data.Train {
		all = append(all, countable{records.KeyOf(t.job, t.data.Split) + ".manifest", t.data.Eval})
	}
	return all
}

// aboutFiles returns the words for the key of a manifest in a message that two of them differ, and
// any other key as it is.
func aboutFiles(key string) string {
	set, ok := strings.CutSuffix(key, ".manifest")
	switch {
	case !ok:
		return key
	case set == "input.train":
		return "the training files differ: " + set
	case set == "input.split":
		return "the held-out records differ: " + set
	}
	return "the validation files differ: " + set
}

// uncounted returns the value of o that the ranks compare before they have met: of a manifest with
// large text, names and sizes only. A rank that has a cache knows the records, and another does not.
func (t *Trainer) uncounted(o job.Option) string {
	for _, c := range t.countables() {
		if c.key == o.Key && c.data.Facts().IsShared() {
			return input.ManifestText(namesAndBytes(c.data))
		}
	}
	return o.Value
}

// namesAndBytes returns the manifest without the numbers of records.
func namesAndBytes(d input.Dataset) []string {
	facts := d.Facts()
	lines := slices.Clone(facts.Manifest)
	for i, line := range lines {
		if facts.Counting == nil {
			lines[i] = line[:max(0, strings.LastIndexByte(line, ' '))]
		}
	}
	return lines
}

// count completes the numbers of records of large text, of which all ranks then have the same. The
// ranks that lack them count a share each. Other ranks have a cache, or counted in an earlier
// generation. It is a collective operation.
func (t *Trainer) count(ctx context.Context, g *ring.Group) error {
	for _, c := range t.countables() {
		if !c.data.Facts().IsShared() {
			continue
		}
		n := counter{group: g, countable: c, most: countedBytes}
		if err := n.count(ctx); err != nil {
			return err
		}
		if err := n.compare(ctx); err != nil {
			return err
		}
	}
	return nil
}

// counter counts the records of one data set together with the other ranks.
type counter struct {
	group *ring.Group
	countable
	most     int64 // bytes between two exchanges: countedBytes, but in tests
	gathered ring.Gathered
}

// count counts the records, unless all ranks have. A rank that lacks the counts tells so, with the
// sample of its files.
func (c *counter) count(ctx context.Context) error {
	text := c.data.Facts().Counting
	mine := []byte{0}
	if text != nil {
		sample, err := text.Sample()
		if err != nil {
			return c.fault(err)
		}
		mine = binary.LittleEndian.AppendUint32([]byte{1}, sample)
	}
	if err := c.group.AllGather(ctx, mine, &c.gathered); err != nil {
		return err
	}
	ranks, err := c.lacking()
	if err != nil || len(ranks) == 0 {
		return err
	}
	parts, err := c.exchange(ctx, text, ranks)
	if err != nil || text == nil {
		return err
	}
	if err := text.JoinCounts(parts); err != nil {
		return c.fault(err)
	}
	return nil
}

// countedBytes is what a rank counts between two exchanges. The ranks that have their counts wait
// meanwhile, for less than the time after which a group takes its operation for stuck.
const countedBytes = 1 << 30

// exchange returns the counts of all parts. The ranks that lack the counts make them, in rounds.
func (c *counter) exchange(ctx context.Context, text input.Counting, ranks []int) (parts [][]byte, err error) {
	own := slices.Index(ranks, c.group.Membership().Rank)
	rounds := c.rounds(len(ranks))
	var mine []byte
	for round := range rounds {
		mine = mine[:0]
		if own >= 0 {
			if mine, err = text.CountShare(ctx, mine, round*len(ranks)+own, rounds*len(ranks)); err != nil {
				return nil, c.fault(err)
			}
		}
		if err := c.group.AllGather(ctx, mine, &c.gathered); err != nil {
			return nil, err
		}
		for _, rank := range ranks {
			parts = append(parts, bytes.Clone(c.gathered.At(rank)))
		}
	}
	return parts, nil
}

// rounds returns the number of exchanges of so many ranks. All ranks agree on the sizes of files.
func (c *counter) rounds(ranks int) int {
	return 1 + int(c.data.Facts().Bytes/(int64(ranks)*c.most))
}

// fault returns an error of this rank's files with their key.
func (c *counter) fault(err error) error { return fmt.Errorf("%s: %w", c.split(), err) }

// split returns the key of the files.
func (c *counter) split() string { return strings.TrimSuffix(c.key, ".manifest") }

// lacking returns the ranks that lack the counts, in order. Files that differ between them are an
// error of all ranks.
func (c *counter) lacking() (ranks []int, err error) {
	for rank := range c.group.Membership().Size() {
		b := c.gathered.At(rank)
		if len(b) == 0 || b[0] == 0 {
			continue
		}
		if first := append(ranks, rank)[0]; string(c.gathered.At(first)) != string(b) {
			return nil, c.differ(rank, fmt.Sprintf("the files have other bytes than those of rank %d, want the same files", first))
		}
		ranks = append(ranks, rank)
	}
	return ranks, nil
}

// compare returns an error on all ranks unless all have the same manifest.
func (c *counter) compare(ctx context.Context) error {
	if err := c.group.AllGather(ctx, []byte(input.ManifestText(c.data.Facts().Manifest)), &c.gathered); err != nil {
		return err
	}
	want := string(c.gathered.At(0))
	for rank := range c.group.Membership().Size() {
		if got := string(c.gathered.At(rank)); got != want {
			return c.differ(rank, fmt.Sprintf("it is %q, want %q as on rank 0", got, want))
		}
	}
	return nil
}

// differ is the error of a rank with other files.
func (c *counter) differ(rank int, what string) error {
	return exitcode.With(exitcode.Usage, &ring.Cause{
		Rank: rank, Host: c.group.Membership().Workers[rank].Host, Step: -1, Operation: "count",
		Text: aboutFiles(c.key) + ": " + what, ExitCode: exitcode.Usage,
	})
}
