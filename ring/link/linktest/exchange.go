package linktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"ringtrain/ring"
)

// exchangeCases verify Exchange.
var exchangeCases = []memoryCase{
	{"payloads of one meeting", 1, testPayloads},
	{"an exchange is a barrier", 2, testExchangeOrders},
	{"exchange allocates nothing", 1, testExchangeAllocates},
	{"interrupt ends exchange", 2, testInterruptExchange},
	{"interrupt comes before exchange", 1, testExchangeAfterInterrupt},
	{"close comes before exchange", 1, testExchangeAfterClose},
	{"close ends the others' exchange", 2, testCloseEndsExchange},
	{"leave after the last exchange", 2, testLastExchange},
}

// samplePayload returns a payload whose bytes encode worker and round. None of its floats is NaN, which
// would not equal itself.
func samplePayload(worker, round int) (s ring.BarrierPayload) {
	for i, bytes := 0, (*[ring.BarrierPayloadBytes]byte)(unsafe.Pointer(&s)); i < len(bytes); i++ {
		bytes[i] = byte(7*worker+31*round+i) & 0x3f
	}
	return s
}

// testPayloads verifies that each worker gets the payloads of its own exchange, however far ahead
// the others are, also with plain barriers in between, and that its own payload is unchanged.
func testPayloads(t *testing.T, all []ring.Memory) {
	const rounds = 100
	eachWorker(t, all, func(me int, m ring.Memory) error {
		got := make([]ring.BarrierPayload, len(all))
		for round := range rounds {
			for range round % 3 {
				if err := m.Sync(context.Background()); err != nil {
					return err
				}
			}
			mine := samplePayload(me, round)
			if err := m.Exchange(context.Background(), &mine, got); err != nil {
				return err
			}
			if mine != samplePayload(me, round) {
				return fmt.Errorf("round %d: the worker's own payload has changed", round)
			}
			mine = ring.BarrierPayload{} // Exchange does not use it after its return
			for of := range got {
				if got[of] != samplePayload(of, round) {
					return fmt.Errorf("round %d: payload of worker %d is another one", round, of)
				}
			}
		}
		return nil
	})
}

// testExchangeOrders verifies that an exchange orders memory: a worker sees what the others
// wrote before it, and nothing later. The race detector verifies the same.
func testExchangeOrders(t *testing.T, all []ring.Memory) {
	const rounds, n = 40, 10
	eachWorker(t, all, func(me int, m ring.Memory) error {
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
			if err := m.Exchange(context.Background(), &mine, got); err != nil {
				return err
			}
			for i, v := range parts[(me+1)%len(all)] {
				if want := float32(round*100 + i); v != want {
					return fmt.Errorf("round %d: element %d is %g, want %g", round, i, v, want)
				}
			}
			if err := m.Exchange(context.Background(), &mine, got); err != nil { // no worker writes before all have read
				return err
			}
		}
		return nil
	})
}

// testExchangeAllocates verifies that an exchange does not allocate.
func testExchangeAllocates(t *testing.T, all []ring.Memory) {
	const runs = 20
	eachWorker(t, all, func(me int, m ring.Memory) error {
		var failed error
		var mine ring.BarrierPayload
		got := make([]ring.BarrierPayload, len(all))
		meet := func() {
			if err := m.Exchange(context.Background(), &mine, got); err != nil {
				failed = err
			}
		}
		meet()
		if me != 0 {
			for range runs + 1 { // AllocsPerRun has one warm-up run
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

// exchangeOf returns a function that exchanges zero payloads.
func exchangeOf(workers int) func(ring.Memory) error {
	return func(m ring.Memory) error {
		var mine ring.BarrierPayload
		return m.Exchange(context.Background(), &mine, make([]ring.BarrierPayload, workers))
	}
}

// testInterruptExchange verifies that Interrupt ends a wait for payloads and every later
// exchange.
func testInterruptExchange(t *testing.T, all []ring.Memory) {
	wait := exchangeOf(len(all))
	errs := waitErrors(t, all[:2], wait, interruptAll(all[:2]))
	errs = append(errs, wait(all[0]))
	for i, err := range errs {
		if !errors.Is(err, ring.ErrClosed) {
			t.Errorf("exchange %d: error %v, want ring.ErrClosed", i, err)
		}
	}
}

// testExchangeAfterInterrupt verifies that an exchange after Interrupt does not wait.
func testExchangeAfterInterrupt(t *testing.T, all []ring.Memory) {
	all[0].Interrupt()
	if err := exchangeOf(len(all))(all[0]); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("error %v, want ring.ErrClosed", err)
	}
}

// testExchangeAfterClose verifies that an exchange after Close returns ring.ErrClosed without
// access to the memory.
func testExchangeAfterClose(t *testing.T, all []ring.Memory) {
	if err := all[0].Close(); err != nil {
		t.Error(err)
	}
	if err := exchangeOf(len(all))(all[0]); !errors.Is(err, ring.ErrClosed) {
		t.Errorf("error %v, want ring.ErrClosed", err)
	}
}

// testCloseEndsExchange verifies that Close of a worker ends the others' exchange, and that
// Missing names it.
func testCloseEndsExchange(t *testing.T, all []ring.Memory) {
	checkLastNamed(t, all, waitErrors(t, all, exchangeOf(len(all)), func(last ring.Memory) {
		if err := last.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}))
}

// testLastExchange verifies that the payload of a worker that leaves right after the last
// exchange can still be read.
func testLastExchange(t *testing.T, all []ring.Memory) {
	eachWorker(t, all, func(me int, m ring.Memory) error {
		got := make([]ring.BarrierPayload, len(all))
		mine := samplePayload(me, 1)
		if err := m.Exchange(context.Background(), &mine, got); err != nil {
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
			if got[of] != samplePayload(of, 1) {
				return fmt.Errorf("payload of worker %d is another one", of)
			}
		}
		return nil
	})
}
