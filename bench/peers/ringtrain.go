package peers

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"

	"ringtrain/bench"
	"ringtrain/bench/child"
	"ringtrain/ring/token"
)

// Names of contenders in bars.
const (
	ours          = "ringtrain"
	ringtrainFlat = "ringtrain flat"
	ringtrainTLS  = "ringtrain tls"  // over loopback, as between hosts
	ringtrainAuth = "ringtrain auth" // between hosts, in clear
	ringtrainBF16 = "ringtrain bf16"
	ringtrainInt8 = "ringtrain int8"
)

// rendezvousPort is the port of rank 0 in its own network namespace.
const rendezvousPort = "29400"

// ringtrain returns this program with options of bench allreduce.
func ringtrain(name, program string, options ...string) Contender {
	return Contender{
		Name: name, own: true,
		processes: func(w Work, p Topology, _ string) []child.Process {
			argv := append([]string{program, "bench", "allreduce", "--json", "--sizes=" + sizesText(w.Sizes),
				fmt.Sprintf("--budget=%v", w.Budget), "--in-place", fmt.Sprintf("--batch=%d", w.Batch)}, options...)
			if len(p.Hosts) == 0 && name != ringtrainTLS {
				return []child.Process{{Argv: append(argv, fmt.Sprintf("-np=%d", w.Ranks))}}
			}
			return ranksOnHosts(w, p, argv)
		},
		parse: parseRow,
	}
}

// meeting returns an address for the rendezvous: on this host a free port.
func (t Topology) meeting() string {
	if len(t.Hosts) == 0 {
		if lis, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
			defer lis.Close()
			return lis.Addr().String()
		}
	}
	return t.addr(0) + ":" + rendezvousPort
}

// ranksOnHosts returns one process per rank on its host, as a scheduler would start it. Without hosts
// each rank says that it is on a host of its own.
func ranksOnHosts(w Work, p Topology, argv []string) []child.Process {
	meet := p.meeting()
	secret := "RINGTRAIN_TOKEN=" + token.New().Reveal()
	var processes []child.Process
	for rank := range w.Ranks {
		command := argv
		if rank == 0 {
			command = append(argv[:len(argv):len(argv)], "--listen="+meet)
		}
		processes = append(processes, child.Process{Argv: p.at(rank, command), Env: []string{
			secret, "RINGTRAIN_RENDEZVOUS=" + meet,
			fmt.Sprintf("RINGTRAIN_RANK=%d", rank), fmt.Sprintf("RINGTRAIN_WORLD_SIZE=%d", w.Ranks),
		}})
		if len(p.Hosts) == 0 {
			processes[rank].Env = append(processes[rank].Env, fmt.Sprintf("RINGTRAIN_HOST_ID=%d", rank))
		}
	}
	return processes
}

func sizesText(sizes []int) string {
	words := make([]string, len(sizes))
	for i, n := range sizes {
		words[i] = bench.SizeText(n)
	}
	return strings.Join(words, ",")
}

// parseRow parses a line of bench allreduce --json.
func parseRow(_ Work, line string) []Sample {
	var r struct {
		Event   string  `json:"event"`
		Bytes   int     `json:"bytes"`
		Codec   string  `json:"codec"`
		Time    float64 `json:"time_s"`
		Wrong   int     `json:"wrong"`
		Between int64   `json:"sent_between_hosts_bytes"`
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Event != "bench" || !(r.Time > 0) {
		return nil
	}
	return []Sample{{Way: r.Codec, Bytes: r.Bytes, Time: r.Time, Wrong: r.Wrong, Between: r.Between}}
}

// Names of limits.
const (
	copyLimit = "copy"
	wireLimit = "wire"
)

// copying returns bench link of this program: the time in which all ranks copy a buffer
// simultaneously. See bench.Link for the reason that no sum in memory is faster.
func copying(program string) Contender {
	return Contender{
		Name: copyLimit, own: true,
		processes: func(w Work, _ Topology, _ string) []child.Process {
			return []child.Process{{Argv: []string{program, "bench", "link", "--json", "--only=copy", "--sizes=" + sizesText(w.Sizes),
				fmt.Sprintf("-np=%d", w.Ranks)}}}
		},
		parse: func(_ Work, line string) []Sample {
			l, ok := parseLimit(line, "copy")
			if !ok {
				return nil
			}
			return []Sample{{Way: l.What, Bytes: l.Bytes, Time: l.Time}}
		},
	}
}

// wire returns bench link of this program: the time in which a plain TCP stream to the
// neighbour carries 2(p-1)/p of a buffer, which each rank must send.
func wire(program string) Contender {
	return Contender{
		Name: wireLimit, own: true,
		processes: func(w Work, p Topology, _ string) []child.Process {
			return ranksOnHosts(w, p, []string{program, "bench", "link", "--json", "--only=stream"})
		},
		parse: func(w Work, line string) []Sample {
			l, ok := parseLimit(line, "stream")
			if !ok {
				return nil
			}
			var samples []Sample
			for _, n := range w.Sizes {
				seconds := float64(n) / (l.BusBW * 1e9) * bench.BusBW(1, w.Ranks)
				samples = append(samples, Sample{Way: l.What, Bytes: n, Time: seconds})
			}
			return samples
		},
	}
}

// parseLimit parses a line of bench link --json.
func parseLimit(line, what string) (bench.Limit, bool) {
	var l struct {
		Event string `json:"event"`
		bench.Limit
	}
	err := json.Unmarshal([]byte(line), &l)
	return l.Limit, err == nil && l.Event == "limit" && l.What == what && l.Time > 0 && l.Rate > 0
}
