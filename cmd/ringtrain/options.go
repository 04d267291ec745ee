package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/bench/speed"
	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/ring/rendezvous"
)

// This file names every option of the command line once. The keys of a
// job file are in model/job; --set sets them.

// option returns an option that stands alone, or that several commands have.
func option(name string) cli.Flag {
	return findFlag([]cli.Flag{
		&cli.BoolFlag{Name: "layers", Usage: "the model of a job, or a kind of model, as model.layers"},
		&cli.BoolFlag{Name: "prune", Usage: "only remove caches of files that are gone, and copies of objects of which there is a newer one, from the job's folder or, without a job, from the one of input.cache auto"},
		&cli.BoolFlag{Name: "json", Usage: "one JSON object a line on standard output, words for people on standard error"},
		&cli.IntFlag{Name: "top", Usage: "the `N` largest weights of the model's linear part, with the names of the columns"},
		&cli.StringFlag{Name: "data", Usage: "`DIR` that relative input files are in (else RINGTRAIN_DATA, else the working directory)"},
		&cli.StringSliceFlag{Name: "set", Usage: "`KEY=VALUE` of the job file, as in --set train.epochs=2; may be repeated"},
		&cli.StringFlag{Name: "from", Usage: "`DIR` of a checkpoint or a bundle (default: the job's checkpoint.dir)"},
		&cli.StringFlag{Name: "split", Usage: "`NAME` of the records of the job: eval, test, train or a name of input.evals (default: those that training evaluates)"},
		&cli.StringFlag{Name: "to", Usage: "`DIR` to write to"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of the drawn records"},
		&cli.IntFlag{Name: "np", Aliases: []string{"n"}, Usage: "start `N` ranks (default: as many as -H has slots; without hosts this process is the only rank)"},
		&cli.DurationFlag{Name: "start-timeout", Value: 300 * time.Second, Usage: "wait this long for all ranks"},
		&cli.BoolFlag{Name: "insecure", Usage: "without a token, listen beyond loopback all the same"},
		&cli.StringFlag{Name: "listen", Usage: "`ADDR[:PORT[-PORT]]` to listen on"},
		&cli.IntFlag{Name: "rank", Value: -1, Usage: "`RANK` of this worker (default: from the environment)"},
		&cli.StringFlag{Name: "rendezvous", Usage: "`ADDR` where the workers meet, HOST:PORT; rank 0 serves it if its --listen is the same"},
		&cli.IntFlag{Name: "world-size", Usage: "`N` workers make the job"},
		&cli.StringFlag{Name: "job-id", Usage: "`ID` that tells this job from others"},
		&cli.IntFlag{Name: "restarts", Usage: "replace `N` lost ranks in all, if they come back (where the rendezvous is)"},
		&cli.DurationFlag{Name: "lease", Value: rendezvous.DefaultLease, Usage: "`TIME` after which a silent rank is lost, from 1s; where the rendezvous is"},
		&cli.StringFlag{Name: "progress", Value: "auto", Usage: "`HOW` a run shows how far it is: live, redrawn on a terminal; plain, in lines; auto, live where a person started this process"},
		&cli.BoolFlag{Name: "watch", Usage: "look again each second until the job has ended"},
		&cli.StringFlag{Name: "sizes", Usage: "`SIZES` of the buffers, as in 8,4KiB,8MiB, instead of --min and --max"},
	}, name)
}

// placeFlags has the options for the place of this worker.
func placeFlags() []cli.Flag {
	return grouped("place of this worker",
		option("rank"), option("world-size"), option("rendezvous"),
		option("listen"), option("job-id"), option("start-timeout"), option("insecure"),
		&cli.StringFlag{Name: "host-id", Usage: "`ID` of this worker's host (else RINGTRAIN_HOST_ID): ranks with the same share memory, others do not (default: the machine's boot and network namespace)"},
	)
}

// jobFlags has the options for the training job.
func jobFlags() []cli.Flag {
	return grouped("training",
		option("data"), option("set"),
		&cli.StringFlag{Name: "resume", Value: "auto", Usage: "`HOW` to use a checkpoint: auto, never or must"},
		&cli.StringFlag{Name: "link", Usage: "`LINK` between workers: auto, tcp or shm; short for --set allreduce.link=LINK"},
		&cli.StringFlag{Name: "codec", Usage: "`CODEC` of gradients between hosts: auto, none, bf16, fp16, int8, …; short for --set allreduce.codec=CODEC"},
		&cli.StringFlag{Name: "security", Usage: "`HOW` gradients travel between hosts: tls or auth; short for --set allreduce.security=HOW"},
		&cli.BoolFlag{Name: "print-options", Usage: "print the job file that is in force, and end"},
		&cli.BoolFlag{Name: "quiet", Usage: "print only warnings, errors and the result, and digests if standard error is no terminal"},
		&cli.BoolFlag{Name: "verbose", Usage: "print each line of each rank, on a terminal digests, too: none is left out; with --json also the load of each rank"},
		option("progress"), option("json"),
	)
}

// bareValues has the value of each option that may stand without one, as --dash[=ADDR].
var bareValues = map[string]string{"dash": "127.0.0.1:0"}

// watchFlags has the options for what shows a run to others than its terminal.
func watchFlags() []cli.Flag {
	return grouped("watching",
		&cli.StringFlag{Name: "dash", Usage: "a live page of the run at `ADDR`, HOST:PORT (default: 127.0.0.1 and a free port); standard error gets its link, whose token opens it"},
		&cli.BoolFlag{Name: "dash-public", Usage: "--dash may be at an address that other hosts reach"},
		&cli.StringFlag{Name: "metrics", Usage: "metrics for Prometheus at `ADDR`, HOST:PORT, under /metrics, without a token: numbers and names of hosts"},
	)
}

// runFlags has the launcher's own options. The launcher passes those of train on.
func runFlags() []cli.Flag {
	return slices.Concat(grouped("run",
		&cli.IntFlag{Name: "np", Aliases: []string{"n"}, Usage: "start `N` ranks (default: as many as -H, --hostfile or the allocation has slots; without these one rank of a job; a program needs -np); slots that are left are spare, for --restarts"},
		option("json"), option("start-timeout"), option("job-id"),
		&cli.DurationFlag{Name: "grace", Value: 10 * time.Second, Usage: "`TIME` between TERM and KILL for ranks that are ended"},
		&cli.DurationFlag{Name: "timeout", Usage: "end a run that takes longer: SIGQUIT, so that ranks dump, then TERM, then KILL; exit code 110"},
		option("restarts"), option("lease"),
		&cli.BoolFlag{Name: "with-parent", Usage: "end the run, as TERM does, when the process that started this one has ended, such as a notebook"},
	), hostFlags(), rankFlags(), watchFlags())
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
	return unionFlags(unionFlags([]cli.Flag{soon, option("json"), option("set"), examined}, hostFlags()), placeFlags())
}

func bindFlag(unset string) cli.Flag {
	return &cli.StringFlag{Name: "bind-to", Value: unset, Usage: "`WHAT`: core divides a host's cores among its ranks, none does not"}
}

// rankFlags has the options for the environment and the output of ranks.
func rankFlags() []cli.Flag {
	return grouped("ranks",
		&cli.StringSliceFlag{Name: "x", Usage: "`NAME[=VALUE]` for the ranks on all hosts, or PREFIX* for all variables that begin so, as in 'AWS_*'; may be repeated"},
		&cli.StringFlag{Name: "wdir", Usage: "`DIR` that ranks run in, on all hosts (default: this one, else the login's)"},
		bindFlag("none"),
		&cli.StringFlag{Name: "output-dir", Usage: "write what ranks print to `DIR`/rank.N/stdout and stderr, too"},
		&cli.BoolFlag{Name: "tag-output", Usage: "begin lines with [rank,stdout] or [rank,stderr]"},
		&cli.BoolFlag{Name: "timestamp-output", Usage: "begin lines with the time, UTC"},
	)
}

func benchAllReduceFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		option("np"), option("json"),
		&cli.StringFlag{Name: "min", Value: "8", Usage: "smallest buffer, such as 8 or 4KiB"},
		&cli.StringFlag{Name: "max", Value: "8MiB", Usage: "largest buffer"},
		&cli.StringFlag{Name: "codec", Value: "none", Usage: "none, bf16, fp16 or int8; several as in none,int8"},
		&cli.StringFlag{Name: "link", Value: "auto", Usage: "auto or tcp"},
		&cli.StringFlag{Name: "security", Value: "tls", Usage: "between hosts: tls, or auth: in clear after the proof of the token"},
		&cli.StringFlag{Name: "levels", Value: "auto", Usage: "auto: in memory within a host; flat: over links"},
		&cli.StringFlag{Name: "algorithm", Value: "auto", Usage: "over links: ring, doubling, halving, or auto, by size"},
		&cli.StringFlag{Name: "lossless", Value: "none", Usage: "none or zstd around the codec's bytes"},
		&cli.IntFlag{Name: "iters", Usage: "`N` operations a size (default: by size)"},
	}, hostFlags(), placeFlags())
}

func benchSumFlags() []cli.Flag {
	return append(benchAllReduceFlags(),
		&cli.DurationFlag{Name: "budget", Usage: "`TIME` for the timed operations of a row, instead of a number of them"},
		&cli.StringFlag{Name: "batch", Value: "16MiB", Usage: "`BYTES` of the buffers that are summed back to back"},
		option("sizes"), bindFlag("core"), // do not depend on the kernel's initial placement of ranks
		&cli.BoolFlag{Name: "in-place", Usage: "nothing out of place"},
	)
}

func benchLinkFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		option("np"), option("json"),
		&cli.StringFlag{Name: "min", Value: "8KiB", Usage: "smallest buffer that is copied"},
		&cli.StringFlag{Name: "max", Value: "128MiB", Usage: "largest buffer that is copied"},
		option("sizes"),
		&cli.StringFlag{Name: "only", Usage: "copy or stream alone"},
		&cli.DurationFlag{Name: "duration", Value: 2 * time.Second, Usage: "`TIME` of the stream between neighbours"},
	}, hostFlags(), placeFlags())
}

func benchPeersFlags() []cli.Flag {
	return []cli.Flag{
		option("json"),
		&cli.IntFlag{Name: "hosts", Usage: "over `N` hosts that are network namespaces, instead of on this host (needs root)"},
		&cli.IntFlag{Name: "per-host", Value: 1, Usage: "`N` ranks on each of --hosts"},
		&cli.StringFlag{Name: "rate", Value: "1gbit", Usage: "`RATE` of each link between --hosts, as tc takes it"},
		&cli.StringFlag{Name: "only", Usage: "`PART` of the tables: one-host (shared memory), flat (TCP on loopback), hosts (4 unless --hosts says); or train: examples a second beside PyTorch, TensorFlow and numpy; or clicks: models of ids on drawn click logs, beside VW, PyTorch and TensorFlow"},
		&cli.StringFlag{Name: "cases", Usage: "`NAMES` of the cases of --only train: " + strings.Join(speed.CaseNames(speed.Images), ", ") + "; of --only clicks: " + strings.Join(speed.CaseNames(speed.Clicks), ", ") + " (default: all)"},
		&cli.StringFlag{Name: "kernels", Usage: "hold all of --only train or clicks to `SET`: avx2"},
		&cli.DurationFlag{Name: "turn", Usage: "`TIME` of each turn of --only train or clicks (default: 3s, with --short 1s)"},
		option("data"),
		&cli.BoolFlag{Name: "short", Usage: "fewer sizes and rounds, in three minutes or less"},
		&cli.IntFlag{Name: "rounds", Usage: "`N` interleaved rounds, however long they take (default: 7 or 20 minutes, with --short 3 or 2 minutes)"},
	}
}

func benchInputFlags() []cli.Flag {
	return []cli.Flag{
		option("json"),
		&cli.StringFlag{Name: "cases", Usage: "`NAMES` of formats: " + strings.Join(speed.CaseNames(speed.Input), ", ") + " (default: all)"},
		&cli.IntFlag{Name: "rounds", Value: 5, Usage: "`N` interleaved rounds"},
	}
}

func benchServeFlags() []cli.Flag {
	return []cli.Flag{
		option("json"),
		&cli.StringFlag{Name: "only", Usage: "`PART` of the tables: interpreter, or server"},
		&cli.StringFlag{Name: "cases", Usage: "`NAMES` of the interpreter's cases: " + strings.Join(speed.CaseNames(speed.Answers), ", ") + " (default: all)"},
		&cli.IntFlag{Name: "rounds", Value: 5, Usage: "`N` interleaved rounds"},
		&cli.DurationFlag{Name: "turn", Value: answerTurn, Usage: "`TIME` of each turn"},
	}
}

func benchScaleFlags() []cli.Flag {
	return []cli.Flag{
		option("json"),
		&cli.StringFlag{Name: "np", Aliases: []string{"n", "ranks"}, Value: "2,4,8,16,32,64,128,256,1000", Usage: "`NUMBERS` of ranks"},
		&cli.IntFlag{Name: "hosts", Usage: "`N` hosts that the ranks are spread over (default: each has one of its own)"},
		&cli.StringFlag{Name: "bandwidth", Value: "100mbit,1gbit,10gbit,25gbit", Usage: "`RATES` of the hosts' links"},
		&cli.DurationFlag{Name: "latency", Usage: "`TIME` of a hop (default: measured on loopback)"},
		&cli.StringFlag{Name: "codec", Value: "none,bf16,int8", Usage: "`CODECS` on the wire"},
		&cli.StringFlag{Name: "sizes", Value: "128KiB,2MiB,8MiB,128MiB", Usage: "`SIZES` of the buffers"},
		&cli.StringFlag{Name: "algorithm", Value: "auto", Usage: "as allreduce.algorithm"},
	}
}

func benchKernelsFlags() []cli.Flag {
	return []cli.Flag{
		option("json"),
		&cli.IntFlag{Name: "threads", Value: 1, Usage: "`N` threads of each kernel"},
		&cli.StringFlag{Name: "kernels", Usage: "kernel `SETS`, as in portable,avx2 (default: all that the machine has)"},
		&cli.StringFlag{Name: "only", Usage: "`PART` of the table: squares, models"},
		&cli.StringFlag{Name: "sizes", Usage: "`LENGTHS` of the squares (default: 64 to 1024)"},
		&cli.DurationFlag{Name: "budget", Value: 100 * time.Millisecond, Usage: "`TIME` of each row"},
	}
}

func benchJobFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "np", Aliases: []string{"n"}, Usage: "`NUMBERS` of ranks, as in 1,2,4 (default: 1, 2, 4 … up to the cores, or the slots of the hosts)"},
		&cli.StringFlag{Name: "codec", Usage: "`CODECS` between hosts to compare, as in none,bf16,int8 (default: the job's)"},
		&cli.DurationFlag{Name: "duration", Value: 3 * time.Second, Usage: "`TIME` of each of three turns of a setting, after as long that is not timed, a second at most"},
		option("json"), option("set"), option("data"), option("start-timeout"),
	}, hostFlags())
}

// formatFlags describes the records of files: the keys input.train.* and input.max_* of
// a job.
func formatFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "format", Usage: strings.Join(convert.Names(convert.Format.IsPlain), ", ") + " (default: by the name)"},
		&cli.StringFlag{Name: "labels", Usage: "`FILE` of labels that belongs to a file of images"},
		&cli.StringFlag{Name: "shape", Usage: "images: `HEIGHT,WIDTH,CHANNELS` that they are brought to, or of records that become images"},
		&cli.IntFlag{Name: "resize", Usage: "images: `PIXELS` of the shorter side before the centre is cropped"},
	}
	for _, k := range convert.PlainKeys() {
		text := strings.TrimSuffix(convert.Origin{}.Explain(k.Name, k.Doc()), ".")
		text = strings.ToLower(text[:1]) + text[1:]
		switch {
		case k.Value.CanInt():
			flags = append(flags, &cli.IntFlag{Name: k.Name, Usage: text})
		case k.Takes() != "":
			text += "; one of " + k.Takes()
			fallthrough
		default:
			flags = append(flags, &cli.StringFlag{Name: k.Name, Usage: text})
		}
	}
	return append(flags,
		&cli.IntFlag{Name: "max-features", Value: input.DefaultMaxFeatures, Usage: "ids are below `N`"},
		&cli.StringFlag{Name: "max-inflate", Value: "64MiB", Usage: "a compressed file may inflate to `SIZE`, or 64 times its own"},
		&cli.BoolFlag{Name: "dense", Usage: "records are rows of numbers, rather than ids with values"})
}

func convertFlags() []cli.Flag {
	return append(formatFlags(), option("to"),
		&cli.StringFlag{Name: "to-format", Usage: strings.Join(convert.Names(convert.Format.IsWritten), ", ") + " (default: by the name of --to)"},
		&cli.BoolFlag{Name: "overwrite", Usage: "replace a file that exists"})
}

// clickLogFlags describes a click log. Without any of these options data make clicks
// writes the records of a job with input.synthetic.
func clickLogFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "rows", Value: 500000, Usage: "clicks, table: `N` records, drawn in memory that does not grow with N (of table: 20,000)"},
		&cli.IntFlag{Name: "test-rows", Usage: "clicks: `N` records of the second file (default: a tenth of --rows)"},
		&cli.IntFlag{Name: "ids", Value: 1000000, Usage: "clicks: `M` distinct ids over all fields"},
		&cli.IntFlag{Name: "fields", Value: 39, Usage: "clicks: `F` ids a record, one of each field"},
		&cli.IntFlag{Name: "spread", Value: 1, Usage: "clicks: id k is written as k times `S`: the same log over a larger table"},
		&cli.BoolFlag{Name: "interactions", Usage: "clicks: labels depend on pairs of ids, as in a factorization machine"},
		&cli.StringFlag{Name: "format", Value: "libsvm", Usage: "clicks: " + strings.Join(convert.Names(convert.Format.IsDrawn), ", ")},
		&cli.IntFlag{Name: "numbers", Usage: "clicks, csv: the first `N` fields are columns of numbers, I1 to IN"},
	}
}

func catFlags() []cli.Flag {
	return append(formatFlags(),
		&cli.IntFlag{Name: "skip", Usage: "leave out the first `N`"},
		&cli.IntFlag{Name: "count", Value: -1, Usage: "print `N` records (default: all)"})
}

func forceFlag(what string) cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "replace the " + what + " that is there"}
}

func predictFlags() []cli.Flag {
	return append([]cli.Flag{
		option("from"), option("data"), option("set"),
		&cli.StringFlag{Name: "to", Usage: "`FILE` to write to, .csv or .jsonl, also .gz, or .parquet (default: CSV on standard output)"}, forceFlag("file of --to"),
		&cli.BoolFlag{Name: "csv", Usage: "changes nothing: CSV is the form of standard output"}, option("json"),
	}, bundleFlags()...)
}

func initFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "label", Usage: "the `COLUMN` to predict (default: the one called label, target, class, y, churn, clicked or survived)"},
		&cli.BoolFlag{Name: "regression", Usage: "the label is a number to estimate, also one of few values, which would be classes"},
		&cli.StringFlag{Name: "weight", Usage: "the `COLUMN` of what a record counts"},
		&cli.StringSliceFlag{Name: "key", Usage: "a `COLUMN` that predictions hand on; may be repeated (default: those called id, key or uuid that have no value twice)"},
		&cli.StringFlag{Name: "to", Usage: "the `JOB.yaml` to write (default: the name of the first file)"},
		&cli.StringFlag{Name: "kind", Usage: "the `KIND` of the model (default: linear below 10,000 records, else wide-deep)"},
		forceFlag("job file"), option("json"),
	}
}

func serveFlags() []cli.Flag {
	return slices.Concat(grouped("models",
		&cli.StringFlag{Name: "name", Usage: "`NAME` of the model of DIR (default: that of the folder)"},
		&cli.StringFlag{Name: "versions", Value: "latest", Usage: "`WHICH` are served: latest, latest:N, all, or numbers as 3,5"},
		&cli.StringSliceFlag{Name: "label", Usage: "`LABEL=VERSION` that requests may name, as in --label stable=3; the version is served, too; may be repeated"},
		&cli.DurationFlag{Name: "poll", Value: time.Second, Usage: "`TIME` between two looks for versions"},
		&cli.StringFlag{Name: "config", Usage: "`FILE` of models instead of DIR: a model_config_list, as TensorFlow Serving reads it; read again when it changes"},
	), grouped("requests",
		&cli.IntFlag{Name: "max-batch", Value: 256, Usage: "compute up to `N` records together, of requests that wait for a core; 1: each request alone"},
		&cli.IntFlag{Name: "queue", Value: 1024, Usage: "`N` requests may wait for a core; more are refused (503)"},
		&cli.DurationFlag{Name: "request-timeout", Value: 30 * time.Second, Usage: "`TIME` that a request may take (504)"},
		&cli.StringFlag{Name: "max-body", Value: "64MiB", Usage: "`SIZE` that a request may have (413)"},
		&cli.DurationFlag{Name: "drain", Usage: "`TIME` after TERM in which requests are answered while the server is not ready"},
	), grouped("access",
		&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8501", Usage: "`HOST:PORT` of REST; off: none"},
		&cli.StringFlag{Name: "grpc", Value: "127.0.0.1:8500", Usage: "`HOST:PORT` of gRPC; off: none"},
		&cli.BoolFlag{Name: "cors", Usage: "pages of other origins may read the answers"},
		&cli.StringFlag{Name: "tls-cert", Usage: "`FILE` of the certificate of both ports, read again when it changes"},
		&cli.StringFlag{Name: "tls-key", Usage: "`FILE` of its key"},
		&cli.StringFlag{Name: "tls-client-ca", Usage: "`FILE` of authorities: clients need a certificate of one of them"},
		&cli.StringFlag{Name: "token-file", Usage: "`FILE` of the token that requests need, as Authorization: Bearer TOKEN"},
	))
}
