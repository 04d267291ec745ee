package show

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"ringtrain/bench/speed"
)

// SettingsTable writes the speed of a job in several settings. The codec has a column if the settings
// differ by it.
func SettingsTable(w io.Writer, rows []speed.Tried) {
	codecs := slices.ContainsFunc(rows, func(r speed.Tried) bool { return r.Codec != "" })
	t := newTable(tabwriter.AlignRight, "ranks\t")
	if codecs {
		fmt.Fprint(t, "codec\t")
	}
	fmt.Fprint(t, "examples/s\tspeed-up\tinput\tcompute\texchange\tmemory a rank\t\n")
	for _, r := range rows {
		fmt.Fprintf(t, "%d\t", r.Ranks)
		if codecs {
			fmt.Fprint(t, r.Codec+"\t")
		}
		fmt.Fprintf(t, "%s ± %2.0f %%\t%.2f\t%.0f %%\t%.0f %%\t%.0f %%\t%s\t", Commas(int64(r.ExamplesPerS)), 100*r.Spread, r.SpeedUp,
			100*r.Input, 100*r.Compute, 100*r.Exchange, Bytes(r.RSS))
		if r.Note != "" {
			fmt.Fprint(t, "  "+r.Note)
		}
		fmt.Fprintln(t)
	}
	t.writeTo(w)
}
