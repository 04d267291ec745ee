package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
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
