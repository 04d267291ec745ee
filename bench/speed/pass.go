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
	"syscall"
	"time"

	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// pass is ringtrain over a whole text, from the start of the program to its end.
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

// writeClickJob writes a job file. A job that ringtrain does not read is lacking.
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
	runtime.LockOSThread() // a child is killed when the thread that started it ends
	defer runtime.UnlockOSThread()
	cmd, said, out := exec.CommandContext(ctx, p.program, p.argv...), new(tail), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, said, dieWithParent()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return turn{}, err
	}
	memory := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	took := time.Since(start)
	peak := memory.stop()
	if err != nil {
		return turn{}, fmt.Errorf("%w%s", err, said)
	}
	loss, err := passLoss(out.Bytes())
	return turn{rate: float64(p.rows) / took.Seconds(), loss: loss, memory: peak}, err
}

// passLoss is the mean loss over the pass, which is told at the end.
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
	return 0, fmt.Errorf("the run told no event done")
}

func (p *pass) close() {}
