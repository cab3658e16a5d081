// rigd is two small programs of the rig:
//
//	rigd pause     the process of a pod's sandbox: waits, reaps orphans
//	rigd ingress   the networking layer of Knative Serving: a reverse proxy configured by KIngress objects
package main

import (
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: rigd pause|ingress")
	}
	switch os.Args[1] {
	case "pause":
		pause()
	case "ingress":
		ingress(os.Args[2:])
	default:
		log.Fatalf("rigd has no program %q", os.Args[1])
	}
}

func pause() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			os.Exit(0)
		}
		for {
			var status syscall.WaitStatus
			if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
