package main

import (
	"time"

	"github.com/urfave/cli/v2"
)

// Every option of the command line is named here, once. What a job file says
// is in model/train/job.go and is set by --set.

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "one JSON object a line on standard output, words for people on standard error"}
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
	return &cli.IntFlag{Name: "np", Aliases: []string{"n"}, Usage: "start `N` ranks on this host"}
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

func worldSizeFlag() cli.Flag {
	return &cli.IntFlag{Name: "world-size", Usage: "`N` workers make the job"}
}

func jobIDFlag() cli.Flag {
	return &cli.StringFlag{Name: "job-id", Usage: "`ID` that tells this job from others"}
}

// placeFlags say where this worker stands among the others.
func placeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "rank", Value: -1, Usage: "`RANK` of this worker (default: from the environment)"},
		worldSizeFlag(),
		&cli.StringFlag{Name: "rendezvous", Usage: "`HOST:PORT` where the workers meet"},
		listenFlag(), jobIDFlag(), startTimeoutFlag(), insecureFlag(),
	}
}

// jobFlags say what is trained.
func jobFlags() []cli.Flag {
	return []cli.Flag{
		dataFlag(), setFlag(),
		&cli.StringFlag{Name: "resume", Value: "auto", Usage: "`HOW` to use a checkpoint: auto, never or must"},
		&cli.StringFlag{Name: "link", Usage: "`LINK` between workers: auto, tcp, grpc or shm; short for --set allreduce.link=LINK"},
		&cli.BoolFlag{Name: "print-options", Usage: "print the job file that is in force, and end"},
		jsonFlag(),
	}
}

func trainFlags() []cli.Flag { return append(jobFlags(), placeFlags()...) }

// runFlags are the launcher's own; those of train are handed on.
func runFlags() []cli.Flag {
	return []cli.Flag{
		npFlag(), jsonFlag(), startTimeoutFlag(), jobIDFlag(),
		&cli.DurationFlag{Name: "grace", Value: 10 * time.Second, Usage: "time between TERM and KILL for ranks that are ended"},
	}
}

func benchAllReduceFlags() []cli.Flag {
	return append([]cli.Flag{
		npFlag(), jsonFlag(),
		&cli.StringFlag{Name: "min", Value: "8", Usage: "smallest buffer, such as 8 or 4KiB"},
		&cli.StringFlag{Name: "max", Value: "8MiB", Usage: "largest buffer"},
		&cli.StringFlag{Name: "codec", Value: "none", Usage: "none, bf16, fp16, int8 or int8u; several as in none,int8"},
		&cli.StringFlag{Name: "link", Value: "auto", Usage: "auto, tcp or grpc"},
		&cli.StringFlag{Name: "levels", Value: "auto", Usage: "auto: in memory within a host; flat: over links"},
		&cli.StringFlag{Name: "algorithm", Value: "auto", Usage: "over links, by size: auto, ring, doubling, halving, fold or a table such as <=2KiB:fold,<=32KiB:doubling,ring"},
		&cli.StringFlag{Name: "lossless", Value: "none", Usage: "none, s2, zstd or huff0 around the codec's bytes"},
		&cli.IntFlag{Name: "iters", Usage: "`N` operations a size (default: by size)"},
	}, placeFlags()...)
}
