// Makes a database of vulnerabilities that Grype reads, with Grype's own library: what Grype downloads holds all of them, this one holds one.
//
//	grype-db CACHE PACKAGE CONSTRAINT ID SEVERITY
//
// CACHE is GRYPE_DB_CACHE_DIR. The package is one of Alpine 3.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/afero"

	"github.com/anchore/grype/grype/db/v6"
)

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: grype-db CACHE PACKAGE CONSTRAINT ID SEVERITY")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(cache, name, constraint, id, severity string) error {
	dir := filepath.Join(cache, strconv.Itoa(v6.ModelVersion))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	store, err := v6.NewWriter(v6.Config{DBDirPath: dir})
	if err != nil {
		return err
	}
	if err := fill(store, name, constraint, id, severity); err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	_, err = v6.WriteImportMetadata(afero.NewOsFs(), dir, "test")
	return err
}

func fill(store v6.Writer, name, constraint, id, severity string) error {
	if err := store.SetDBMetadata(); err != nil {
		return err
	}
	captured := time.Now().UTC()
	vulnerability := &v6.VulnerabilityHandle{
		Name:     id,
		Status:   v6.VulnerabilityActive,
		Provider: &v6.Provider{ID: "alpine", Version: "1", Processor: "test", DateCaptured: &captured},
		BlobValue: &v6.VulnerabilityBlob{
			ID:         id,
			Severities: []v6.Severity{{Scheme: v6.SeveritySchemeCHMLN, Value: severity, Rank: 1}},
		},
	}
	if err := store.AddVulnerabilities(vulnerability); err != nil {
		return err
	}
	return store.AddAffectedPackages(&v6.AffectedPackageHandle{
		Vulnerability:   vulnerability,
		OperatingSystem: &v6.OperatingSystem{Name: "alpine", ReleaseID: "alpine", MajorVersion: "3", MinorVersion: "18"},
		Package:         &v6.Package{Ecosystem: "apk", Name: name},
		BlobValue: &v6.PackageBlob{
			CVEs:   []string{id},
			Ranges: []v6.Range{{Version: v6.Version{Type: "apk", Constraint: constraint}}},
		},
	})
}
