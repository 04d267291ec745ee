package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringtrain/model/train/report"
)

// bytesRead returns the number of bytes that this process has read, by the kernel's count.
func bytesRead(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(string(text), "rchar: "), "\n")
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCheckpointReadOnce resumes a job whose ring order may be stored in the checkpoint. It verifies
// that rank 0 reads the checkpoint once before the first step.
func TestCheckpointReadOnce(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(digitsText, "kind: softmax", "kind: mlp, hidden: [2000]", 1)
	mustTrain(t, 1, loadText(t, text, "checkpoint.dir="+dir, "train.steps=1"), digitsData(), nil)
	info, err := os.Stat(filepath.Join(dir, "step-000001", "model.ckpt.data-00000-of-00001"))
	if err != nil {
		t.Fatal(err)
	}
	var before, after int64
	m := mustTrain(t, 1, loadText(t, text, "checkpoint.dir="+dir, "train.steps=2"), digitsData(), func(m *member) {
		before = bytesRead(t)
		m.team.Progress = func(step int64, phase string) {
			if fmt.Sprint(step, phase) == "1train" && after == 0 {
				after = bytesRead(t)
			}
		}
	})[0]
	if got := eventsOf[report.Start](m)[0].RestoredStep; got != 1 || after == 0 {
		t.Fatalf("resumed at step %d, want 1", got)
	}
	if times := float64(after-before) / float64(info.Size()); times > 1.5 {
		t.Errorf("rank 0 read %.2f times the %d bytes of the checkpoint before the first step, want 1", times, info.Size())
	} else {
		t.Logf("rank 0 read %.2f times the checkpoint", times)
	}
}
