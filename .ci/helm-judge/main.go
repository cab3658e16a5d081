// Pushes and pulls charts with Helm's own library, as `helm push` and `helm pull` do: what it makes and reads is what ARC is compared with.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/registry"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 1 && args[0] == "ranges" {
		return ranges(os.Stdin, os.Stdout)
	}
	client, err := registry.NewClient(registry.ClientOptPlainHTTP(), registry.ClientOptWriter(os.Stderr))
	if err != nil {
		return err
	}
	switch {
	case len(args) >= 4 && args[0] == "push":
		return push(client, args[1], args[2], args[3], args[4:])
	case len(args) == 2 && args[0] == "pull":
		return pull(client, args[1])
	case len(args) == 4 && args[0] == "sign":
		return sign(args[1], args[2], args[3])
	case len(args) == 4 && args[0] == "verify":
		return verify(args[1], args[2], args[3])
	}
	return fmt.Errorf("usage: helm-judge push ARCHIVE REFERENCE CREATED [PROVENANCE] | pull REFERENCE | ranges | sign ARCHIVE KEYRING NAME | verify ARCHIVE PROVENANCE KEYRING")
}

// Prints the digest of the manifest.
func push(client *registry.Client, archive, reference, created string, provenance []string) error {
	data, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	options := []registry.PushOption{registry.PushOptCreationTime(created)}
	for _, file := range provenance {
		prov, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		options = append(options, registry.PushOptProvData(prov))
	}
	pushed, err := client.Push(data, reference, options...)
	if err != nil {
		return err
	}
	fmt.Println(pushed.Manifest.Digest)
	return nil
}

// Prints what was read as JSON.
func pull(client *registry.Client, reference string) error {
	pulled, err := client.Pull(reference, registry.PullOptWithProv(true), registry.PullOptIgnoreMissingProv(true))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"manifest":   pulled.Manifest.Digest,
		"chart":      pulled.Chart.Digest,
		"name":       pulled.Chart.Meta.Name,
		"version":    pulled.Chart.Meta.Version,
		"provenance": pulled.Prov.Size,
	})
}
