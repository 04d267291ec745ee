package place

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"ringtrain/ring/launch/internal/environ"
)

const completionIndex = "JOB_COMPLETION_INDEX"

// kubernetes reads the index of a pod of an indexed job. Kubernetes says no
// more, so the job's manifest must: its completions as RINGTRAIN_WORLD_SIZE, and
// the name of pod 0 as RINGTRAIN_RENDEZVOUS. Ranks that were started within a
// pod by mpirun, mpiexec or torchrun have other numbers than the pod.
func kubernetes(e environ.Vars, g explicitPlace) (*claim, error) {
	if !e.Any(completionIndex) || environ.Nested(e) {
		return nil, nil
	}
	rank, err := e.Int(completionIndex, 0, -1)
	if err != nil {
		return nil, err
	}
	c := &claim{Place: Place{Rank: rank, LocalRank: -1, Source: completionIndex}}
	c.missing = fmt.Errorf("%s is %d, and says neither how many pods there are nor where they meet: add to the container's env "+
		"{name: RINGTRAIN_WORLD_SIZE, value: \"COMPLETIONS\"} and {name: RINGTRAIN_RENDEZVOUS, value: \"JOB-0.SERVICE:%s\"}",
		completionIndex, rank, DefaultPort)
	if isFirstPod(g.rendezvous, e.Get("HOSTNAME"), rank) {
		c.rendezvous = g.rendezvous
	}
	return c, nil
}

// isPodZero tells whether the host of addr is pod 0 of the indexed job whose
// pod of this rank is called hostname: a pod's name is that of the job with the
// index behind it. Where the pod has another name (that of its node, with the
// host's network) any name like that of a pod 0 will do.
func isFirstPod(addr, hostname string, rank int) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	name, _, _ := strings.Cut(host, ".")
	if job, ok := strings.CutSuffix(hostname, "-"+strconv.Itoa(rank)); ok {
		return name == job+"-0"
	}
	return strings.HasSuffix(name, "-0")
}
