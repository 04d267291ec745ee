package linktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"ringtrain/ring"
)

// Exchanger tests that the memory which open returns, as for [Memory], carries
// payloads: each must be a [ring.Exchanger].
func Exchanger(t *testing.T, open func(t *testing.T, p int) []ring.Memory) {
	run(t, open, []memoryCase{
		{"payloads of one meeting", 1, testPayloads},
		{"an exchange is a barrier", 2, testExchangeOrders},
		{"exchange allocates nothing", 1, testExchangeAllocates},
		{"interrupt ends exchange", 2, testInterruptExchange},
		{"interrupt comes before exchange", 1, testExchangeAfterInterrupt},
		{"close comes before exchange", 1, testExchangeAfterClose},
		{"close ends the others' exchange", 2, testCloseEndsExchange},
		{"leave after the last exchange", 2, testLastExchange},
	})
}

// trade is m's Exchange.
func trade(m ring.Memory, mine *ring.BarrierPayload, all []ring.BarrierPayload) error {
	x, ok := m.(ring.Exchanger)
	if !ok {
		return errors.New("the memory is no ring.Exchanger")
	}
	return x.Exchange(context.Background(), mine, all)
}

// barrierPayload returns one all of whose bytes tell worker and round; none of its floats
// is NaN, which would not equal itself.
func barrierPayload(worker, round int) (s ring.BarrierPayload) {
	for i, bytes := 0, (*[ring.BarrierPayloadBytes]byte)(unsafe.Pointer(&s)); i < len(bytes); i++ {
		bytes[i] = byte(7*worker+31*round+i) & 0x3f
	}
	return s
}

// testPayloads fails if a worker gets another payload than the one that belongs to the
// same meeting, however far ahead the others are and whatever plain barriers lie
// in between, or if its own payload is changed.
func testPayloads(t *testing.T, all []ring.Memory) {
	const rounds = 100
	together(t, all, func(me int, m ring.Memory) error {
		got := make([]ring.BarrierPayload, len(all))
		for round := range rounds {
			for range round % 3 {
				if err := m.Sync(context.Background()); err != nil {
					return err
				}
			}
			mine := barrierPayload(me, round)
			if err := trade(m, &mine, got); err != nil {
				return err
			}
			if mine != barrierPayload(me, round) {
				return fmt.Errorf("round %d: the worker's own payload has changed", round)
			}
			mine = ring.BarrierPayload{} // it is the worker's again
			for of := range got {
				if got[of] != barrierPayload(of, round) {
					return fmt.Errorf("round %d: payload of worker %d is another one", round, of)
				}
			}
		}
		return nil
	})
}

// testExchangeOrders fails if a worker sees after an exchange anything but what
// the others wrote before it. The race detector reads along.
func testExchangeOrders(t *testing.T, all []ring.Memory) {
	const rounds, n = 40, 10
	together(t, all, func(me int, m ring.Memory) error {
		parts, err := m.Arena(context.Background(), n)
		if err != nil {
			return err
		}
		var mine ring.BarrierPayload
		got := make([]ring.BarrierPayload, len(all))
		for round := range rounds {
			for i := range parts[me] {
				parts[me][i] = float32(round*100 + i)
			}
			if err := trade(m, &mine, got); err != nil {
				return err
			}
			for i, v := range parts[(me+1)%len(all)] {
				if want := float32(round*100 + i); v != want {
					return fmt.Errorf("round %d: element %d is %g, want %g", round, i, v, want)
				}
			}
			if err := trade(m, &mine, got); err != nil { // nobody writes before all have read
				return err
			}
		}
		return nil
	})
}

// testExchangeAllocates fails if a small sum costs the garbage collector
// something.
func testExchangeAllocates(t *testing.T, all []ring.Memory) {
	const runs = 20
	together(t, all, func(me int, m ring.Memory) error {
		var failed error
		var mine ring.BarrierPayload
		got := make([]ring.BarrierPayload, len(all))
		meet := func() {
			if err := trade(m, &mine, got); err != nil {
				failed = err
			}
		}
		meet()
		if me != 0 {
			for range runs + 1 { // AllocsPerRun runs once more than it counts
				meet()
			}
			return failed
		}
		if n := testing.AllocsPerRun(runs, meet); n != 0 {
			return fmt.Errorf("%v allocations per exchange, want 0", n)
		}
		return failed
	})
}

// exchangeOf is an exchange of nothing in particular.
func exchangeOf(workers int) func(ring.Memory) error {
	return func(m ring.Memory) error {
		var mine ring.BarrierPayload
		return trade(m, &mine, make([]ring.BarrierPayload, workers))
	}
}

// testInterruptExchange fails if a worker that waits for payloads cannot be stopped,
// or if a stopped one can go on.
func testInterruptExchange(t *testing.T, all []ring.Memory) {
	wait := exchangeOf(len(all))
	errs := ended(t, all[:2], wait, interruptAll(all[:2]))
	errs = append(errs, wait(all[0]))
	for i, err := range errs {
		if !errors.Is(err, ring.ErrClosed) {
			t.Errorf("exchange %d: error %v, want ring.ErrClosed", i, err)
		}
	}
}

// testExchangeAfterInterrupt fails if a worker that was stopped between two
// meetings waits in the next.
func testExchangeAfterInterrupt(t *testing.T, all []ring.Memory) {
	all[0].Interrupt()
	if err := exchangeOf(len(all))(all[0]); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("error %v, want ring.ErrClosed", err)
	}
}

// testExchangeAfterClose fails if a worker that has given its memory back waits
// for others, or touches what is no longer there.
func testExchangeAfterClose(t *testing.T, all []ring.Memory) {
	if err := all[0].Close(); err != nil {
		t.Error(err)
	}
	if err := exchangeOf(len(all))(all[0]); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("error %v, want ring.ErrClosed", err)
	}
}

// testCloseEndsExchange fails if workers wait for ever for the payload of one that
// has ended, or do not know which it was.
func testCloseEndsExchange(t *testing.T, all []ring.Memory) {
	namesLast(t, all, ended(t, all, exchangeOf(len(all)), func(last ring.Memory) {
		if err := last.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}))
}

// testLastExchange fails if a worker that leaves right after the last meeting
// takes its payload away from those that have not read it.
func testLastExchange(t *testing.T, all []ring.Memory) {
	together(t, all, func(me int, m ring.Memory) error {
		got := make([]ring.BarrierPayload, len(all))
		mine := barrierPayload(me, 1)
		if err := trade(m, &mine, got); err != nil {
			return err
		}
		if me%2 == 0 {
			if err := m.Close(); err != nil {
				return err
			}
		} else {
			m.Interrupt()
		}
		for of := range got {
			if got[of] != barrierPayload(of, 1) {
				return fmt.Errorf("payload of worker %d is another one", of)
			}
		}
		return nil
	})
}
