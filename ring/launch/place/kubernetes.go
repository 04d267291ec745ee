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

// firstPod takes the address of the rendezvous for that of pod 0 of an indexed job, if it is.
// Kubernetes gives the index of a pod and nothing else, so the manifest of the job must give
// the rest: its completions as RINGTRAIN_WORLD_SIZE, and the name of pod 0 as
// RINGTRAIN_RENDEZVOUS.
func firstPod(e environ.Vars, g explicitPlace, c *claim) error {
	c.missing = fmt.Errorf("%s is %d, and says neither how many pods there are nor where they meet: add to the container's env "+
		"{name: RINGTRAIN_WORLD_SIZE, value: \"COMPLETIONS\"} and {name: RINGTRAIN_RENDEZVOUS, value: \"JOB-0.SERVICE:%s\"}",
		completionIndex, c.Rank, DefaultPort)
	if isFirstPod(g.rendezvous, e.Get("HOSTNAME"), c.Rank) {
		c.rendezvous = g.rendezvous
	}
	return nil
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

// volcanoHost takes the first host of the task for rank 0, which serves the rendezvous.
func volcanoHost(e environ.Vars, _ explicitPlace, c *claim) error {
	first, _, _ := strings.Cut(e.Get(pick(e, "VC_*_HOSTS")), ",")
	if at := net.JoinHostPort(first, DefaultPort); checkEndpoint(at) == nil {
		c.rendezvous = at
	}
	return nil
}

// dmlcRole returns why a scheduler or a server of MXNet's or XGBoost's tracker has nothing to do.
func dmlcRole(e environ.Vars) string {
	if role := e.Get("DMLC_ROLE"); role != "" && role != "worker" {
		return "DMLC_ROLE: the " + role + " is not needed: the workers train and evaluate among themselves"
	}
	return ""
}
