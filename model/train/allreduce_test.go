package train

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// TestCompressor fails if an option means another compressor on the wire, or one
// that cannot be is not refused as a fault of the job.
func TestCompressor(t *testing.T) {
	for _, tt := range []struct{ codec, lossless, want, err string }{
		{"none", "none", "", ""},
		{"int8", "s2", "s2", ""},
		{"auto", "zstd", "zstd", ""},
		{"powersgd:2", "huff0", "huff0", ""},
		{"rows", "none", "rows", ""},
		{"rows", "zstd", "", "allreduce.lossless is zstd, want none with allreduce.codec rows, which stands in its place"},
		{"none", "rows", "", `allreduce.lossless is "rows", want one of none, s2, zstd, huff0`},
	} {
		t.Run(fmt.Sprintf("codec=%s/lossless=%s", tt.codec, tt.lossless), func(t *testing.T) {
			got, err := AllReduce{Codec: tt.codec, Lossless: tt.lossless}.Compressor()
			if tt.err != "" {
				if err == nil || err.Error() != tt.err || exitcode.Of(err) != exitcode.Usage {
					t.Errorf("error is %v with code %d, want %s", err, exitcode.Of(err), tt.err)
				}
				return
			}
			if name := nameOf(got); err != nil || name != tt.want {
				t.Errorf("compressor is %q, error %v, want %q", name, err, tt.want)
			}
		})
	}
}

func nameOf(c codec.Compressor) string {
	if c == nil {
		return ""
	}
	return c.String()
}

// TestParseCodec fails if a name means another codec or another rank of factors.
func TestParseCodec(t *testing.T) {
	for _, tt := range []struct {
		name string
		want codec.Codec // nil: an error
		rank int
	}{
		{"auto", codec.None, 0}, {"rows", codec.None, 0}, {"none", codec.None, 0}, {"int8", codec.Int8, 0},
		{"powersgd", codec.None, 4}, {"powersgd:1", codec.None, 1}, {"powersgd:64", codec.None, 64},
		{"powersgd:0", nil, 0}, {"powersgd:65", nil, 0}, {"powersgd:x", nil, 0}, {"powersgd:", nil, 0}, {"powersgd:-1", nil, 0},
		{"powersgd:99999999999999999999", nil, 0}, {"powersgd:4:4", nil, 0}, {"int8:4", nil, 0}, {"", nil, 0},
	} {
		c, rank, err := AllReduce{Codec: tt.name}.parseCodec()
		if c != tt.want || rank != tt.rank || (err == nil) != (tt.want != nil) {
			t.Errorf("%q is %v of rank %d, error %v; want %v of rank %d", tt.name, c, rank, err, tt.want, tt.rank)
		}
	}
}

// wideText has gradients of 50,000 rows, of which a step touches few.
const wideText = `
name: wide
model:     {kind: sparse-linear, features: 50000}
input:     {synthetic: true, batch: 30}
optimizer: {name: adagrad, learning_rate: 0.1}
train:     {steps: 8}
log:       {every: 0}
`

// compressed trains on p ranks as cmd does: with the compressor that the job asks
// for, over links.
func compressed(t *testing.T, p int, job *Job, data datasets) *member {
	t.Helper()
	return mustEnd(t, trainBy(t, p, func(rank func(g *ring.Group) error) {
		config := ring.DefaultConfig()
		var err error
		if config.Lossless, err = job.AllReduce.Compressor(); err != nil {
			t.Fatal(err)
		}
		ringtest.Run(t, p, config, rank)
	}, job, data, nil))[0]
}

// TestRows fails if sums of which only what is not zero is sent have other bits
// than sums of all, or cost as many bytes.
func TestRows(t *testing.T) {
	for _, p := range []int{2, 3} {
		t.Run(fmt.Sprintf("world=%d", p), func(t *testing.T) {
			dense := compressed(t, p, loadText(t, wideText, "allreduce.codec=none"), clicksData())
			rows := compressed(t, p, loadText(t, wideText, "allreduce.codec=rows"), clicksData())
			if rows.result != dense.result {
				t.Errorf("rows end with %+v, none with %+v", rows.result, dense.result)
			}
			if s := eventsOf[Start](rows)[0]; s.Codec != "rows" || len(rows.notices) > 0 {
				t.Errorf("start is %+v, notices are %q", s, rows.notices)
			}
			state := int64(p-1) * 2 * 4 * 50001 // variables and slots, from rank 0 at the start
			few, all := eventsOf[Done](rows)[0].SentBytes-state, eventsOf[Done](dense)[0].SentBytes-state
			if few < 0 || few > all/50 {
				t.Errorf("%d bytes are sent, want at most a fiftieth of %d", few, all)
			}
		})
	}
}

// TestRowsUnused fails if rows are said to be used where there is no wire.
func TestRowsUnused(t *testing.T) {
	m := mustEnd(t, onHosts(t, []int{0, 0}, loadText(t, wireText, "allreduce.codec=rows")))[0]
	if s := eventsOf[Start](m)[0]; s.Codec != "none" || len(m.notices) != 1 || !strings.HasPrefix(m.notices[0], "allreduce.codec rows is not used: on one host ") {
		t.Errorf("start is %+v, notices are %q", s, m.notices)
	}
}
