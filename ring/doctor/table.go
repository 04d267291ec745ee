package doctor

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
)

// maxMatrix is the maximal number of ranks of a printed matrix. Larger worlds print findings
// only.
const maxMatrix = 24

// Table returns the report for people: the hosts, the matrix of latency and bandwidth, and the
// findings, the worst first.
func (r *Report) Table(v Verdict) string {
	var b strings.Builder
	r.hostTable(&b)
	if n := len(r.Hosts); n > 1 && n <= maxMatrix {
		r.matrix(&b)
	}
	for _, h := range r.Hosts {
		for _, d := range h.Disks {
			if d.Fault == "" {
				fmt.Fprintf(&b, "%s %s on %s: %s free\n", d.Key, d.Path, r.name(h.Rank), bytesText(d.Free))
			}
		}
	}
	if best := r.BestOrder(); best != "" {
		b.WriteString(best + "\n")
	}
	b.WriteString("\n" + v.Text(len(r.Hosts)))
	return b.String()
}

// Text returns the findings for people, and whether a job of size workers can run.
func (v Verdict) Text(size int) string {
	var b strings.Builder
	for _, f := range v.Findings {
		class := "fault"
		if f.Code == 0 {
			class = "warning"
		}
		fmt.Fprintf(&b, "%s: %s\n", class, f.Text)
	}
	switch {
	case !v.Well():
		fmt.Fprintf(&b, "a job would not run here (exit code %d)\n", v.Code)
	case size == 1:
		fmt.Fprintln(&b, "this host is well; to examine others give -H a,b or a launcher")
	default:
		fmt.Fprintf(&b, "all %d workers reach each other, both ways\n", size)
	}
	return b.String()
}

func (r *Report) hostTable(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "rank\thost\taddress\tversion\tkernels\tcores\tmemory free\tfiles\ttasks\ttoken\tclock")
	for _, h := range r.Hosts {
		if h.Fault != "" {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", h.Rank, h.Host, h.Address, h.Fault)
			continue
		}
		clock := "-"
		if p := r.pair(0, h.Rank); h.Rank > 0 && p.Fault == "" {
			clock = fmt.Sprintf("%+.3f s", p.Ahead)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d\t%s of %s\t%s\t%s\t%s\t%s\n", h.Rank, h.Host, cmp.Or(h.Address, "-"), h.Version, h.Kernels, h.Cores,
			bytesText(h.MemoryFree), bytesText(h.Memory), limitText(h.OpenFiles), limitText(h.Tasks), cmp.Or(h.TokenID, "unusable"), clock)
	}
	w.Flush()
}

// matrix prints a row for each dialling rank: round trips, and the bandwidth where it was
// measured.
func (r *Report) matrix(b *strings.Builder) {
	fmt.Fprintln(b, "\nround trip / bandwidth, from the rank of the row to that of the column")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for to := range r.Hosts {
		fmt.Fprintf(w, "\t%d", to)
	}
	for from := range r.Hosts {
		fmt.Fprintf(w, "\n%d", from)
		for to := range r.Hosts {
			cell := "-"
			if from != to {
				cell = r.pair(from, to).cell()
			}
			fmt.Fprint(w, "\t"+cell)
		}
	}
	fmt.Fprintln(w)
	w.Flush()
}

func (p *Pair) cell() string {
	switch {
	case p.Fault != "":
		return "FAULT"
	case p.Bandwidth == 0:
		return secondsText(p.Latency)
	}
	return secondsText(p.Latency) + " / " + rateText(p.Bandwidth)
}

// limitText returns a limit: -1 is none, 0 is unknown.
func limitText(n int64) string {
	switch {
	case n < 0:
		return "no limit"
	case n == 0:
		return "?"
	}
	return fmt.Sprint(n)
}
