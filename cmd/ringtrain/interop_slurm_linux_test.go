package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// A slurm is a Slurm cluster on hosts that are network namespaces: munged for all,
// slurmctld on the first host, slurmd on each. Each daemon has its own processes, mounts
// and host name. It is killed with its processes at the end of the test.
type slurm struct {
	*box
	hosts []netns.Host
}

// newSlurm starts a cluster, or skips the test if that is impossible.
func newSlurm(t *testing.T, n int) *slurm {
	t.Helper()
	program(t, "srun", "slurm-client")
	program(t, "unshare", "util-linux")
	daemons := map[string]string{"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd"}
	for name, pkg := range daemons {
		daemons[name] = program(t, name, pkg)
	}
	s := &slurm{newBox(t), newHosts(t, n, "")}
	s.box = s.with("SLURM_CONF="+s.path("slurm.conf"), newToken())
	s.configure()
	munged := s.daemon(0, daemons["munged"], "--foreground", "--force", "--key-file="+s.path("munge/key"), "--socket="+s.path("munge/socket"),
		"--pid-file="+s.path("munge/pid"), "--log-file="+s.path("munge/log"), "--seed-file="+s.path("munge/seed"))
	munged.await("work threads") // the last message before it answers
	s.daemon(0, daemons["slurmctld"], "-D").await("Running as primary controller")
	for i := range s.hosts {
		s.daemon(i, daemons["slurmd"], "-D", "-N", nodeName(i)).await("slurmd started on")
	}
	return s
}

func nodeName(i int) string { return fmt.Sprintf("node%d", i+1) }

// configure writes the daemons' configuration. Slurm needs a mounted /sys/fs/cgroup even
// with another process tracking, and config_overrides for nodes that claim more than the
// machine has.
func (s *slurm) configure() {
	s.Helper()
	key := make([]byte, 128)
	for i := range key {
		key[i] = byte(i)*7 + 1
	}
	s.write("munge/key", string(key))
	if err := os.Chmod(s.path("munge/key"), 0o600); err != nil {
		s.Fatal(err)
	}
	names := "127.0.0.1 localhost\n"
	conf := "ClusterName=rt SlurmctldHost=node1 SlurmUser=root SlurmdUser=root AuthType=auth/munge AuthInfo=socket=" + s.path("munge/socket") +
		" CredType=cred/munge ProctrackType=proctrack/linuxproc TaskPlugin=task/none JobAcctGatherType=jobacct_gather/none" +
		" SelectType=select/cons_tres SelectTypeParameters=CR_CPU MpiDefault=none SwitchType=switch/none ReturnToService=2" +
		" SlurmdParameters=config_overrides StateSaveLocation=" + s.path("state") + " SlurmdSpoolDir=" + s.path("spool.%n") +
		" SlurmctldPidFile=" + s.path("slurmctld.pid") + " SlurmdPidFile=" + s.path("slurmd.%n.pid") + " SlurmctldTimeout=10 SlurmdTimeout=10 KillWait=5"
	conf = strings.ReplaceAll(conf, " ", "\n") + "\n"
	for i, h := range s.hosts {
		names += h.Addr + " " + nodeName(i) + "\n"
		conf += "NodeName=" + nodeName(i) + " NodeAddr=" + h.Addr + " CPUs=4 RealMemory=1000\n"
		s.write("spool."+nodeName(i)+"/about", "slurmd keeps its state here\n")
	}
	s.write("hosts", names)
	s.write("slurm.conf", conf+"PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n")
	s.write("cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
	s.write("state/about", "slurmctld keeps its state here\n")
}

// on starts a program on a host, with the host's name, and all hosts' names in
// /etc/hosts.
func (s *slurm) on(host int, argv ...string) *testProcess {
	s.Helper()
	return s.within(3*patience, host, argv)
}

// daemon is on for a process that runs until the end of the test.
func (s *slurm) daemon(host int, argv ...string) *testProcess {
	s.Helper()
	return s.within(hours, host, argv)
}

func (s *slurm) within(limit time.Duration, host int, argv []string) *testProcess {
	s.Helper()
	mounts := "hostname " + nodeName(host) + " && mount --bind " + s.path("hosts") + ` /etc/hosts && mount -t tmpfs none /sys/fs/cgroup && exec "$@"`
	line := append([]string{"unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", mounts, "sh"}, argv...)
	line = s.hosts[host].Command(line...)
	return s.startWithin(limit, line[0], line[1:]...)
}

// TestInteropSlurmHosts verifies starts of two ranks on each of two nodes by srun, with
// and without PMI.
func TestInteropSlurmHosts(t *testing.T) {
	s := newSlurm(t, 2)
	for _, mpi := range []string{"none", "pmi2"} {
		t.Run("mpi="+mpi, func(t *testing.T) {
			e := s.on(0, append([]string{"srun", "--mpi=" + mpi, "-N2", "-n4", "--ntasks-per-node=2"}, s.trainLine()...)...).wait()
			wantSame(t, e)
			if start := e.only(t, "start"); start.num("hosts") != 2 || !strings.HasPrefix(start.text("rendezvous"), "node1:") {
				t.Errorf("the ranks are on %v hosts and meet at %v, want 2 and node1", start["hosts"], start["rendezvous"])
			}
		})
	}
	t.Run("step=one host", func(t *testing.T) {
		e := s.on(0, append([]string{"env", "-u", "RINGTRAIN_TOKEN", "srun", "-N1", "-n4"}, s.trainLine()...)...).wait() // needs none
		wantSame(t, e)
		if start := e.only(t, "start"); !strings.HasPrefix(start.text("rendezvous"), "127.0.0.1:") {
			t.Errorf("the ranks meet at %v, want the loopback", start["rendezvous"])
		}
	})
	t.Run("mpiexec in an allocation", func(t *testing.T) { // started by srun with the numbers of its own step
		mpiexec := program(t, "mpiexec.hydra", "mpich")
		e := s.on(0, append([]string{"salloc", "-N2", "-n4", "--ntasks-per-node=2", mpiexec, "-n", "4"}, s.trainLine()...)...).wait()
		wantSame(t, e)
		if got := e.only(t, "start").num("hosts"); got != 2 {
			t.Errorf("the ranks are on %v hosts, want 2", got)
		}
	})
	t.Run("batch", func(t *testing.T) { // the script is no rank; the processes of srun are
		s.write("job.sh", "#!/bin/sh\nset -e\n"+self(s.box)+" train linear --set train.steps=1 --set checkpoint.dir= --set export.savedmodel= >alone\n"+
			"srun "+strings.Join(s.trainLine(), " ")+"\n")
		e := s.on(0, "sbatch", "--wait", "-N2", "-n4", "-o", s.path("out"), "-e", s.path("err"), s.path("job.sh")).wait()
		e.stdout, e.stderr = s.read("out"), s.read("err")
		wantSame(t, e)
		if alone := s.read("alone"); !strings.Contains(alone, "1 rank · ") {
			t.Errorf("the script itself says %q, want 1 rank", alone)
		}
	})
	t.Run("batch=deploy", func(t *testing.T) { // the script of deploy/slurm
		if err := os.Symlink(self(s.box), s.path("ringtrain")); err != nil {
			t.Fatal(err)
		}
		script, err := filepath.Abs(filepath.Join("..", "..", "deploy", "slurm", "job.sbatch"))
		if err != nil {
			t.Fatal(err)
		}
		s := &slurm{s.with("PATH=" + s.dir + ":" + os.Getenv("PATH")), s.hosts}
		e := s.on(0, append([]string{"sbatch", "--wait", "-N2", "--ntasks-per-node=2", "--cpus-per-task=1", "-o", s.path("out2"), "-e", s.path("err2"), script},
			levelled(t)...)...).wait()
		e.stdout, e.stderr = s.read("out2"), s.read("err2")
		wantSame(t, e)
	})
}
