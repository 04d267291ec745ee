package show

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"ringtrain/model/train"
	"ringtrain/ring/joblist"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous"
)

// StatusTable writes the jobs as text: a line for each job, one for each rank, and where its history and its live page
// are.
func StatusTable(w io.Writer, jobs []joblist.Job) error {
	t := newTable(0, "")
	for _, j := range jobs {
		s := j.Status
		fmt.Fprintln(t.text, jobLine(s))
		if s.Stall != "" {
			fmt.Fprintln(t.text, s.Stall)
		}
		for _, line := range s.Strangers {
			fmt.Fprintln(t.text, line)
		}
		fmt.Fprintln(t, "rank\thost\taddress\tpid\tstep\tphase\tbeat\twaits for")
		for _, r := range s.Ranks {
			fmt.Fprintln(t, rankLine(r))
		}
		t.Flush() // to memory
		for _, place := range [][2]string{{"history", j.History}, {"dashboard", j.Dashboard}} {
			if place[1] != "" {
				fmt.Fprintln(t.text, place[0]+" "+place[1])
			}
		}
	}
	return t.writeTo(w)
}

func jobLine(s rendezvous.Status) string {
	line := fmt.Sprintf("job %s  %s  generation %d  world size %d  step %s  %s steps/s  %d present, %d missing  %s left",
		cmp.Or(s.JobID, "-"), s.Phase, s.Generation, s.WorldSize, stepText(s.Step), speedText(s.StepsPerS), s.Present, max(s.WorldSize-s.Present, 0),
		phrase.Count(s.RestartsLeft, "restart"))
	if set := s.Choice(train.KernelsChoice).Value; set != "" {
		line += "  kernels " + set
	}
	if s.Remaining > 0 {
		line += fmt.Sprintf("  gives up in %d s", int64(s.Remaining.Seconds()))
	}
	if s.Cause != nil {
		line += "  last: " + s.Cause.Error()
	}
	return line
}

func rankLine(r rendezvous.RankStatus) string {
	rank := "?"
	if r.Worker.Rank >= 0 {
		rank = fmt.Sprint(r.Worker.Rank)
	}
	if !r.Present {
		return fmt.Sprintf("%s\t-\t%s\t-\t-\tmissing\t-\tmissing for %d s: %s", rank, cmp.Or(r.Worker.Addr, "-"), int64(r.Missing.Seconds()), r.Reason)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%s\t%s\t%.1fs\t%s", rank, cmp.Or(r.Worker.Host, "-"), r.Worker.Addr, r.Worker.PID,
		stepText(r.Step), cmp.Or(r.Phase, "start"), r.Beat.Seconds(), waitText(r))
}

func waitText(r rendezvous.RankStatus) string {
	w := r.Wait
	if w.Operation == "" {
		return "-"
	}
	text := fmt.Sprintf("%s %d", w.Operation, w.Seq)
	if w.Elements > 0 {
		text += fmt.Sprintf(" (%s elements)", Commas(int64(w.Elements)))
	}
	if w.Peer >= 0 {
		text = fmt.Sprintf("rank %d in ", w.Peer) + text
	}
	return fmt.Sprintf("%s for %.1fs", text, r.For.Seconds())
}

// speedText returns a speed with three digits, or all those before the point.
func speedText(perS float64) string {
	if perS >= 999.5 {
		return Commas(int64(math.Round(perS)))
	}
	return fmt.Sprintf("%.3g", perS)
}

func stepText(step int64) string {
	if step < 0 {
		return "-"
	}
	return fmt.Sprint(step)
}
