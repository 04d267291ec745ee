package speed

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"ringtrain/bench/child"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// pass is ringtrain on a whole text, from the start of the program to its end.
type pass struct {
	program string
	ranks   int
	format  string // of the text

	argv []string
	rows int
}

func (p *pass) open(ctx context.Context, w work) (string, error) {
	cfg := filepath.Join(w.folder, fmt.Sprintf("%s-%s-%d.yaml", w.Name, p.format, p.ranks))
	if err := writeClickJob(cfg, w.clickJob(w.records.log, p.format, 1)); err != nil {
		return "", err
	}
	p.rows = w.click.rows
	p.argv = []string{"train", "--json", cfg, "--set", "log.every=1h"}
	if p.ranks > 1 {
		p.argv = append([]string{"run", "-np", strconv.Itoa(p.ranks)}, p.argv[1:]...)
	}
	if !w.click.cached {
		return "", nil
	}
	if out, err := exec.CommandContext(ctx, p.program, "data", "cache", cfg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return "", nil
}

// writeClickJob writes a job file. The error is lacking if ringtrain refuses the job.
func writeClickJob(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	if _, err := job.Load(path, nil, nil); exitcode.Of(err) == exitcode.Usage {
		return lacking{err}
	}
	return nil
}

func (p *pass) turn(ctx context.Context, _ time.Duration) (turn, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, stderr := child.Process{Argv: append([]string{p.program}, p.argv...)}.Command(ctx)
	out := new(bytes.Buffer)
	cmd.Stdout = out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return turn{}, err
	}
	memory := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	took := time.Since(start)
	peak := memory.stop()
	if err != nil {
		return turn{}, fmt.Errorf("%w%s", err, stderr)
	}
	loss, err := passLoss(out.Bytes())
	return turn{rate: float64(p.rows) / took.Seconds(), loss: loss, memory: peak}, err
}

// passLoss returns the mean loss of the pass from the event done.
func passLoss(out []byte) (float64, error) {
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var e struct {
			Event string  `json:"event"`
			Loss  float64 `json:"loss"`
		}
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Event == "done" {
			return e.Loss, nil
		}
	}
	return 0, fmt.Errorf("the run printed no event done")
}

func (p *pass) close() {}
