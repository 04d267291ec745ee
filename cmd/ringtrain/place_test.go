package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// startRanks starts n processes; env returns the environment of each.
func (b *box) startRanks(n int, args []string, env func(rank int) []string) []*testProcess {
	b.Helper()
	var list []*testProcess
	for rank := range n {
		list = append(list, b.with(env(rank)...).start(args...))
	}
	return list
}

func rankVariables(rank, size, port int) []string {
	return []string{
		"RANK=" + strconv.Itoa(rank), "WORLD_SIZE=" + strconv.Itoa(size), "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + strconv.Itoa(port),
	}
}

func tfConfigVariable(ports []int, task int) string {
	return tfConfigOf(onLoopback(ports), task)
}

// onLoopback returns the loopback addresses of ports.
func onLoopback(ports []int) []string {
	var list []string
	for _, port := range ports {
		list = append(list, "127.0.0.1:"+strconv.Itoa(port))
	}
	return list
}

// tfConfigOf returns TF_CONFIG of one worker.
func tfConfigOf(workers []string, task int) string {
	text, err := json.Marshal(map[string]any{
		"cluster": map[string]any{"worker": workers},
		"task":    map[string]any{"type": "worker", "index": task},
	})
	if err != nil {
		panic("test: " + err.Error())
	}
	return "TF_CONFIG=" + string(text)
}

// given has the ports that freePorts has returned: a parallel test may not listen on its
// ports yet.
var given sync.Map

// freePorts returns unused ports of the loopback, below the range of outgoing
// connections.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for port := 10000 + rand.IntN(8000); len(ports) < n && port < 20000; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer l.Close() // all stay open until n are found
		if _, before := given.LoadOrStore(port, true); !before {
			ports = append(ports, port)
		}
	}
	if len(ports) < n {
		t.Fatalf("%d free ports below 20000, want %d", len(ports), n)
	}
	return ports
}

// TestWrongPlaceIsTold verifies that the other ranks end at once with a rank whose own place is
// wrong, whether its rank is known or not.
func TestWrongPlaceIsTold(t *testing.T) {
	for _, tt := range []struct {
		name, env string
		args      []string
		want      string
	}{
		{"rank=outside", "RANK=2", nil, "RANK is 2, want 0 to 1"},
		{"rank=text", "RANK=x", nil, `RANK is "x"`},
		{"local rank=outside", "LOCAL_RANK=3 LOCAL_WORLD_SIZE=2", nil, "rank 1 on "},
		{"listen=wrong", "", []string{"--listen", ":7-5"}, "rank 1 on "},
		{"host-id=wrong", "", []string{"--host-id", "a b"}, "rank 1 on "},
		{"launchers=two", "PMI_RANK=0 PMI_SIZE=2 PMI_FD=5", nil, "PMI says rank 0 of 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			meet := slices.Clip([]string{"WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", fmt.Sprint("MASTER_PORT=", freePorts(t, 1)[0])})
			other := b.with(append(meet, "RANK=0")...).start("train", "linear", "--set", "train.steps=5")
			wrong := b.with(append(append(meet, "RANK=1"), strings.Fields(tt.env)...)...).start(append([]string{"train", "linear"}, tt.args...)...)
			for rank, p := range []*testProcess{other, wrong} {
				if e := p.wait(); e.code != 64 || !strings.Contains(e.last(), tt.want) {
					t.Errorf("rank %d ended with %d, want 64 and %q:\n%s", rank, e.code, tt.want, e.stderr)
				}
			}
		})
	}
}
