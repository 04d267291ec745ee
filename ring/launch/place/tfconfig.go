package place

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/launch/internal/environ"
	"ringtrain/ring/phrase"
)

// tfConfigJSON is the part of TF_CONFIG that ringtrain reads. Other keys are ignored.
type tfConfigJSON struct {
	Cluster       map[string]json.RawMessage `json:"cluster"`
	SparseCluster json.RawMessage            `json:"sparseCluster"`
	Task          *struct {
		Type  string          `json:"type"`
		Index json.RawMessage `json:"index"`
	} `json:"task"`
}

// taskTypes are the task types of TensorFlow. Its version 1 also calls the chief master.
var taskTypes = []string{"chief", "worker", "ps", "evaluator", "master"}

// chiefOf returns chief for the other name of that type, and each other type as it is.
func chiefOf(typ string) string {
	if typ == "master" {
		return "chief"
	}
	return typ
}

var errSparseCluster = errors.New("sparseCluster is set, want cluster: a worker must know all others, so set enableDynamicWorker: false in the TFJob")

// tfConfig reads TF_CONFIG, which lists the address of every task and names the task of
// this process. Ranks are the chief, if there is one, then the workers. The entry of rank 0
// is the rendezvous, and each worker listens at its own entry. A cluster for parameter
// servers runs as it is: ps and evaluator have nothing to do.
func tfConfig(e environ.Vars) ([]claim, error) {
	s := e.Get("TF_CONFIG")
	if s == "" {
		return nil, nil
	}
	c, err := parseTFConfig(s)
	if err != nil {
		return nil, fmt.Errorf("TF_CONFIG: %w", err)
	}
	return []claim{*c}, nil
}

func parseTFConfig(s string) (*claim, error) {
	var text tfConfigJSON
	if err := json.Unmarshal([]byte(s), &text); err != nil {
		return nil, fmt.Errorf("%s is not what TensorFlow reads: %w", phrase.Quote(s), err)
	}
	if text.SparseCluster != nil {
		return nil, errSparseCluster
	}
	lists, err := text.addresses()
	if err != nil {
		return nil, err
	}
	typ, index, err := text.task()
	if err != nil {
		return nil, err
	}
	if list, listed := lists[typ]; index < 0 || typ != "evaluator" && index >= len(list) || !listed && typ != "evaluator" {
		return nil, fmt.Errorf("task.index is %d, but cluster.%s has %d entries", index, typ, len(list))
	}
	if typ == "ps" || typ == "evaluator" {
		return &claim{Place: Place{Rank: -1, LocalRank: -1, Source: "TF_CONFIG", NotNeeded: fmt.Sprintf(
			"TF_CONFIG: task %s %d is not needed: the workers train and evaluate among themselves", typ, index)}}, nil
	}
	return claimOfTask(lists, typ, index)
}

// claimOfTask returns the claim of task index of type chief or worker.
func claimOfTask(lists map[string][]string, typ string, index int) (*claim, error) {
	listed, err := rankAddresses(lists)
	if err != nil {
		return nil, err
	}
	rank := index
	if typ == "worker" {
		rank += len(lists["chief"])
	}
	c := &claim{rendezvous: listed[0], Place: Place{
		Rank: rank, WorldSize: len(listed), LocalRank: -1,
		Listen: listenAt(listed[rank]), Listed: listed, Source: "TF_CONFIG",
	}}
	if rank == 0 {
		c.Notices = ignoredTasksNotice(lists)
	}
	if rank == 0 || isLoopback(listed[0]) { // no other host finds rank 0
		c.Notices = append(c.Notices, loopbackNotices(lists)...)
	}
	return c, nil
}

// task returns the type and the index of this process.
func (t *tfConfigJSON) task() (string, int, error) {
	if t.Task == nil {
		return "", 0, fmt.Errorf("task is missing, want task.type and task.index")
	}
	typ := t.Task.Type
	if !slices.Contains(taskTypes, typ) {
		return "", 0, fmt.Errorf("task.type is %q, want one of %s", typ, strings.Join(taskTypes, ", "))
	}
	text := string(t.Task.Index)
	if text == "" {
		return "", 0, fmt.Errorf("task.index is missing, want the number of this %s", typ)
	}
	index, err := strconv.Atoi(strings.Trim(text, `"`)) // TensorFlow accepts "1" and 1
	if err != nil {
		return "", 0, fmt.Errorf("task.index is %s, want a whole number", phrase.Quote(text))
	}
	return chiefOf(typ), index, nil
}

// addresses returns the addresses of each type of task.
func (t *tfConfigJSON) addresses() (map[string][]string, error) {
	if len(t.Cluster) == 0 {
		return nil, fmt.Errorf("cluster is missing, want cluster.worker, a list of host:port")
	}
	lists := map[string][]string{}
	for _, typ := range slices.Sorted(maps.Keys(t.Cluster)) {
		if !slices.Contains(taskTypes, typ) {
			return nil, fmt.Errorf("cluster has %q, want only %s", typ, strings.Join(taskTypes, ", "))
		}
		var list []string
		if err := json.Unmarshal(t.Cluster[typ], &list); err != nil {
			return nil, fmt.Errorf("cluster.%s is %s, want a list of host:port", typ, phrase.Quote(string(t.Cluster[typ])))
		}
		lists[chiefOf(typ)] = append(lists[chiefOf(typ)], list...)
	}
	if n := len(lists["chief"]); n > 1 {
		return nil, fmt.Errorf("cluster.chief has %d entries, want at most 1", n)
	}
	return lists, nil
}

// rankAddresses returns the address of every rank: the chief's, then the workers'.
func rankAddresses(lists map[string][]string) ([]string, error) {
	var all []string
	names := map[string]string{} // where each address is listed
	for _, typ := range []string{"chief", "worker"} {
		for i, addr := range lists[typ] {
			name := fmt.Sprintf("cluster.%s[%d]", typ, i)
			if err := checkEndpoint(addr); err != nil {
				return nil, fmt.Errorf("%s is %q, want %w", name, addr, err)
			}
			if first, ok := names[strings.ToLower(addr)]; ok {
				return nil, fmt.Errorf("%s and %s are both %q, want an address for each", first, name, addr)
			}
			names[strings.ToLower(addr)] = name
			all = append(all, addr)
		}
	}
	return all, nil
}

// ignoredTasksNotice tells people which tasks of the cluster have nothing to do.
func ignoredTasksNotice(lists map[string][]string) []string {
	ps, ev := len(lists["ps"]), len(lists["evaluator"])
	if ps+ev == 0 {
		return nil
	}
	return []string{fmt.Sprintf("TF_CONFIG: %d ps and %d evaluator entries are passed over: the workers need neither", ps, ev)}
}

// loopbackNotices warns of loopback addresses: they mean another host on each host.
func loopbackNotices(lists map[string][]string) []string {
	var notices []string
	remote := false
	for _, typ := range []string{"chief", "worker"} {
		for i, addr := range lists[typ] {
			if !isLoopback(addr) {
				remote = true
				continue
			}
			notices = append(notices, fmt.Sprintf(
				"TF_CONFIG: cluster.%s[%d] is %s, a loopback address among those of other hosts: only its own host reaches it", typ, i, addr))
		}
	}
	if !remote {
		return nil
	}
	return notices
}
