package launch

import (
	"bufio"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilence verifies that a silence is told once and ends the login after silentTimeout,
// and that frames of a living agent prevent both.
func TestSilence(t *testing.T) {
	const s = time.Second // the value of the manual, independent of the code
	for _, tt := range []struct {
		name  string
		heard []time.Duration // times of heartbeats since the start
		notes []time.Duration
		lost  time.Duration
	}{
		{"heard=never", nil, []time.Duration{5 * s}, 30 * s},
		{"heard=just in time", []time.Duration{9 * s / 2}, []time.Duration{9 * s}, 34 * s},
		{"heard=late", []time.Duration{59 * s / 2}, []time.Duration{5 * s, 34 * s}, 59 * s},
		{"heard=too late", []time.Duration{61 * s / 2}, []time.Duration{5 * s}, 30 * s},
	} {
		synctest.Test(t, func(t *testing.T) {
			var heard silenceTimer
			var notes []time.Duration
			began, over := time.Now(), make(chan struct{})
			go func() {
				for _, at := range tt.heard {
					time.Sleep(at - time.Since(began))
					heard.reset()
				}
			}()
			lost := time.Duration(0)
			heard.watch(over, func() { notes = append(notes, time.Since(began)) }, func() { lost = time.Since(began) })
			synctest.Wait()
			time.Sleep(time.Minute) // for heartbeats that come too late
			if !slices.Equal(notes, tt.notes) || lost != tt.lost || !heard.expired() {
				t.Errorf("%s: told after %v, lost after %v, want %v and %v", tt.name, notes, lost, tt.notes, tt.lost)
			}
		})
	}
}

// TestSilenceOwn verifies that time in which this process was stopped is no silence of
// others.
func TestSilenceOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s silenceTimer
		over, stopped := make(chan struct{}), make(chan struct{})
		told := false
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.watch(over, func() { told = true; <-stopped }, func() { t.Error("it counts as lost") })
		}()
		time.Sleep(10 * silentTimeout) // the timer does not run during the callback
		close(stopped)
		time.Sleep(3 * aliveInterval)
		s.reset()
		close(over)
		<-ended
		if !told || s.expired() {
			t.Errorf("told %v, lost %v", told, s.expired())
		}
	})
}

// pausing is a reader that is at once read from again when its turn comes.
type pausing struct{ turn chan []byte }

func (p pausing) Read(b []byte) (int, error) { return copy(b, <-p.turn), nil }

// TestSilenceBusy verifies that time in which the reader is busy is no silence, and that
// silence counts again once the reader waits.
func TestSilenceBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s silenceTimer
		from, over := pausing{make(chan []byte)}, make(chan struct{})
		lost := time.Duration(0)
		go s.watch(over, func() {}, func() { t.Error("it counts as lost") })
		heard := silenceReader{from, &s}
		go func() { from.turn <- []byte("words") }()
		heard.Read(make([]byte, 8))
		time.Sleep(10 * silentTimeout) // the frames are written to a disk that hangs
		close(over)
		synctest.Wait()
		began := time.Now()
		go heard.Read(make([]byte, 8))
		over = make(chan struct{})
		time.AfterFunc(2*silentTimeout, func() { close(over) })
		s.watch(over, func() {}, func() { lost = time.Since(began) })
		time.Sleep(2 * silentTimeout)
		if lost != silentTimeout {
			t.Errorf("a silence counts as lost after %v, want %v", lost, silentTimeout)
		}
		close(from.turn)
	})
}

// TestKeepAlive verifies that an agent with nothing to send sends kindAlive, and that one
// that sends other frames does not.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		to, over, kinds := &frameWriter{w: w}, make(chan struct{}), ""
		go func() {
			in := bufio.NewReader(r)
			for f, err := readFrame(in); err == nil; f, err = readFrame(in) {
				kinds += string(f.kind)
			}
		}()
		ended := make(chan struct{})
		go func() { to.keepAlive(over); close(ended) }()
		time.Sleep(aliveInterval * 5 / 2) // two intervals
		for range 4 {                     // a frame in each of four intervals
			to.send(frame{kind: kindOut})
			time.Sleep(aliveInterval)
		}
		time.Sleep(2 * aliveInterval) // two intervals
		close(over)
		<-ended
		w.Close()
		synctest.Wait()
		if want := "AAooooAA"; kinds != want {
			t.Errorf("said is %q, want %q", kinds, want)
		}
	})
}
