package main

import (
	"slices"
	"time"

	"ringtrain/ring/rendezvous"

	"github.com/urfave/cli/v2"
)

// This file and bench_flags.go name every option of the command line once. The keys of a
// job file are in model/job; --set sets them.

func layersFlag() cli.Flag {
	return &cli.BoolFlag{Name: "layers", Usage: "the model of a job, or a kind of model, as model.layers"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "one JSON object a line on standard output, words for people on standard error"}
}

func topFlag() cli.Flag {
	return &cli.IntFlag{Name: "top", Usage: "the `N` largest weights of the model's linear part, with the names of the columns"}
}

func csvFlag() cli.Flag {
	return &cli.BoolFlag{Name: "csv", Usage: "print CSV with a header: key, whatever the name of the key column, or record, and score, or score_0 and on (default: tabs)"}
}

func dataFlag() cli.Flag {
	return &cli.StringFlag{Name: "data", Usage: "`DIR` that relative input files are in (else RINGTRAIN_DATA, else the working directory)"}
}

func setFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "set", Usage: "`KEY=VALUE` of the job file, as in --set train.epochs=2; may be repeated"}
}

func fromFlag() cli.Flag {
	return &cli.StringFlag{Name: "from", Usage: "`DIR` of a checkpoint or a bundle (default: the job's checkpoint.dir)"}
}

func toFlag() cli.Flag {
	return &cli.StringFlag{Name: "to", Usage: "`DIR` to write to"}
}

func seedFlag() cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of the drawn records"}
}

func npFlag() cli.Flag {
	return &cli.IntFlag{Name: "np", Aliases: []string{"n"}, Usage: "start `N` ranks (default: as many as -H has slots; without hosts this process is the only rank)"}
}

func startTimeoutFlag() cli.Flag {
	return &cli.DurationFlag{Name: "start-timeout", Value: 300 * time.Second, Usage: "wait this long for all ranks"}
}

func insecureFlag() cli.Flag {
	return &cli.BoolFlag{Name: "insecure", Usage: "without a token, listen beyond loopback all the same"}
}

func listenFlag() cli.Flag {
	return &cli.StringFlag{Name: "listen", Usage: "`ADDR[:PORT[-PORT]]` to listen on"}
}

func rankFlag() cli.Flag {
	return &cli.IntFlag{Name: "rank", Value: -1, Usage: "`RANK` of this worker (default: from the environment)"}
}

func rendezvousFlag() cli.Flag {
	return &cli.StringFlag{Name: "rendezvous", Usage: "`ADDR` where the workers meet, HOST:PORT"}
}

func worldSizeFlag() cli.Flag {
	return &cli.IntFlag{Name: "world-size", Usage: "`N` workers make the job"}
}

func jobIDFlag() cli.Flag {
	return &cli.StringFlag{Name: "job-id", Usage: "`ID` that tells this job from others"}
}

func restartsFlag() cli.Flag {
	return &cli.IntFlag{Name: "restarts", Usage: "replace `N` lost ranks in all, if they come back (where the rendezvous is)"}
}

func leaseFlag() cli.Flag {
	return &cli.DurationFlag{Name: "lease", Value: rendezvous.DefaultLease, Usage: "`TIME` after which a silent rank is lost, from 1s; where the rendezvous is"}
}

func watchFlag() cli.Flag {
	return &cli.BoolFlag{Name: "watch", Usage: "look again each second until the job has ended"}
}

// placeFlags has the options for the place of this worker.
func placeFlags() []cli.Flag {
	return grouped("place of this worker",
		rankFlag(), worldSizeFlag(), rendezvousFlag(),
		listenFlag(), jobIDFlag(), startTimeoutFlag(), insecureFlag(),
		&cli.StringFlag{Name: "host-id", Usage: "`ID` of this worker's host (else RINGTRAIN_HOST_ID): ranks with the same share memory, others do not (default: the machine's boot and network namespace)"},
	)
}

// jobFlags has the options for the training job.
func jobFlags() []cli.Flag {
	return grouped("training",
		dataFlag(), setFlag(),
		&cli.StringFlag{Name: "resume", Value: "auto", Usage: "`HOW` to use a checkpoint: auto, never or must"},
		&cli.StringFlag{Name: "link", Usage: "`LINK` between workers: auto, tcp or shm; short for --set allreduce.link=LINK"},
		&cli.StringFlag{Name: "codec", Usage: "`CODEC` of gradients between hosts: auto, none, bf16, fp16, int8, …; short for --set allreduce.codec=CODEC"},
		&cli.BoolFlag{Name: "print-options", Usage: "print the job file that is in force, and end"},
		&cli.BoolFlag{Name: "quiet", Usage: "print only warnings, errors and the result, and digests if standard error is no terminal"},
		&cli.BoolFlag{Name: "verbose", Usage: "on a terminal print each line of each rank, digests too: none is joined to others or left out"},
		jsonFlag(),
	)
}

func trainFlags() []cli.Flag {
	return slices.Concat(jobFlags(), placeFlags(), []cli.Flag{restartsFlag(), leaseFlag()})
}

// runFlags has the launcher's own options. The launcher passes those of train on.
func runFlags() []cli.Flag {
	return slices.Concat(grouped("run",
		&cli.IntFlag{Name: "np", Aliases: []string{"n"}, Usage: "start `N` ranks (default: as many as -H, --hostfile or the allocation has slots; without these -np is needed); slots that are left are spare, for --restarts"},
		jsonFlag(), startTimeoutFlag(), jobIDFlag(),
		&cli.DurationFlag{Name: "grace", Value: 10 * time.Second, Usage: "`TIME` between TERM and KILL for ranks that are ended"},
		&cli.DurationFlag{Name: "timeout", Usage: "end a run that takes longer: SIGQUIT, so that ranks dump, then TERM, then KILL; exit code 110"},
		restartsFlag(), leaseFlag(),
	), hostFlags(), rankFlags())
}

// hostFlags has the options for the hosts of ranks.
func hostFlags() []cli.Flag {
	return grouped("hosts",
		&cli.StringSliceFlag{Name: "host", Aliases: []string{"H"}, Usage: "`HOST:SLOTS,…` to run on, over ssh; a host without a number has one slot; may be repeated"},
		&cli.StringFlag{Name: "hostfile", Aliases: []string{"machinefile"}, Usage: "`FILE` of hosts, one a line: NAME slots=N, or NAME:N"},
		&cli.StringFlag{Name: "map-by", Value: "slot", Usage: "`ORDER` of ranks: slot fills a host before the next, node takes hosts in turn"},
		&cli.StringFlag{Name: "ssh", EnvVars: []string{"RINGTRAIN_SSH"}, Value: "ssh", Usage: "`COMMAND` that logs in, as in --ssh \"ssh -F file\""},
		&cli.IntFlag{Name: "fanout", Value: 32, Usage: "log in to `N` hosts at a time; 0: to all at once"},
		&cli.BoolFlag{Name: "push", Usage: "copy this program to hosts that lack it, to ~/.cache/ringtrain/bin"},
		&cli.StringFlag{Name: "interface", Usage: "`NAME|CIDR` by which hosts reach this one (default: the first that they reach)"},
	)
}

// doctorFlags has the options for the hosts to examine and the time limit.
func doctorFlags() []cli.Flag {
	examined := &cli.StringSliceFlag{Name: "host", Aliases: []string{"H"}, Usage: "`HOST,…` to examine, over ssh, with one rank on each; may be repeated"}
	soon := &cli.DurationFlag{Name: "start-timeout", Value: 30 * time.Second, Usage: "wait this long for all ranks, and as long for what they find"}
	return unionFlags(unionFlags([]cli.Flag{soon, jsonFlag(), setFlag(), examined}, hostFlags()), placeFlags())
}

func bindFlag(unset string) cli.Flag {
	return &cli.StringFlag{Name: "bind-to", Value: unset, Usage: "`WHAT`: core divides a host's cores among its ranks, none does not"}
}

// rankFlags has the options for the environment and the output of ranks.
func rankFlags() []cli.Flag {
	return grouped("ranks",
		&cli.StringSliceFlag{Name: "x", Usage: "`NAME[=VALUE]` for the ranks on all hosts; may be repeated"},
		&cli.StringFlag{Name: "wdir", Usage: "`DIR` that ranks run in, on all hosts (default: this one, else the login's)"},
		bindFlag("none"),
		&cli.StringFlag{Name: "output-dir", Usage: "write what ranks print to `DIR`/rank.N/stdout and stderr, too"},
		&cli.BoolFlag{Name: "tag-output", Usage: "begin lines with [rank,stdout] or [rank,stderr]"},
		&cli.BoolFlag{Name: "timestamp-output", Usage: "begin lines with the time, UTC"},
	)
}

func benchAllReduceFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		npFlag(), jsonFlag(),
		&cli.StringFlag{Name: "min", Value: "8", Usage: "smallest buffer, such as 8 or 4KiB"},
		&cli.StringFlag{Name: "max", Value: "8MiB", Usage: "largest buffer"},
		&cli.StringFlag{Name: "codec", Value: "none", Usage: "none, bf16, fp16 or int8; several as in none,int8"},
		&cli.StringFlag{Name: "link", Value: "auto", Usage: "auto or tcp"},
		&cli.StringFlag{Name: "levels", Value: "auto", Usage: "auto: in memory within a host; flat: over links"},
		&cli.StringFlag{Name: "algorithm", Value: "auto", Usage: "over links: ring, doubling, halving, or auto, by size"},
		&cli.StringFlag{Name: "lossless", Value: "none", Usage: "none or zstd around the codec's bytes"},
		&cli.IntFlag{Name: "iters", Usage: "`N` operations a size (default: by size)"},
	}, hostFlags(), placeFlags())
}
