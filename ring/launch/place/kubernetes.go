package place

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"ringtrain/ring/launch/internal/environ"
)

// completionIndex is the variable that Kubernetes sets in each pod of an indexed job.
const completionIndex = "JOB_COMPLETION_INDEX"

// kubernetes reads the index of a pod of an indexed job. Kubernetes gives nothing else, so
// the manifest of the job must give the rest: its completions as RINGTRAIN_WORLD_SIZE, and
// the name of pod 0 as RINGTRAIN_RENDEZVOUS. A rank that mpirun, mpiexec or torchrun has
// started in a pod has another number than the pod.
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

// isFirstPod reports whether the host of addr is pod 0 of the indexed job whose pod of this
// rank has this hostname. The name of a pod is the name of the job and the index. A pod on
// its host's network has the name of the node instead; then any name that ends in -0 will
// do.
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
