package main

// A scenario is what is done to a job, and what it then shows.
type scenario struct {
	name string
	run  func(*trial) (result, error)
}

// cases lists all cases, in the order of the table.
var cases = []scenario{
	{"as it is", asItIs},
	{"job file from a ConfigMap", configured},
	{"export served by a Deployment", served},
	{"metrics scraped by Prometheus", scraped},
	{"kill -9 of rank 2", killed{rank: 2, end: allAnew}.run},
	{"kill -9 of rank 2, --restarts 9", killed{rank: 2, args: restarts, end: "2:137"}.run},
	{"kill -9 of rank 0", killed{rank: 0, end: "0:137 1:138 2:138 3:138"}.run},
	{"kill -9 of rank 0, --restarts 9", killed{rank: 0, args: restarts, end: "0:137"}.run},
	{"kubectl delete pod of rank 2", deleted{rank: 2}.run},
	{"kubectl delete pod of rank 0", deleted{rank: 0}.run},
	{"kubectl drain", drained},
	{"kubectl delete job", stopped},
	{"a pod never scheduled", unscheduled},
	{"claim missing", unclaimed},
	{"wrong token in one pod", refused{"77", otherToken}.run},
	{"exit code 64: wrong option", refused{"64", with("--set", "train.epochs=-1")}.run},
	{"exit code 65: damaged data", damaged},
	{"exit code 66: no data", refused{"66", with("--data", "/tmp")}.run},
	{"exit code 73: volume read-only", refused{"73", with("--set", "checkpoint.dir=/data/ckpt")}.run},
	{"program not in the image", misspelt},
	{"TFJob", on(tfJob, asItIs)},
	{"TFJob, kill -9 of rank 2", on(tfJob, killed{rank: 2, end: allAnew}.run)},
	{"TFJob, exit code 66: no data", on(tfJob, refused{"66", with("--data", "/tmp")}.run)},
	{"TrainJob", on(trainJob, asItIs)},
	{"TrainJob, kill -9 of rank 2", on(trainJob, killed{rank: 2, end: allAnew}.run)},
	{"TrainJob, exit code 66: no data", on(trainJob, refused{"66", with("--data", "/tmp")}.run)},
}
