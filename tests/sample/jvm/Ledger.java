package org.abacus;

import java.util.List;

/** A ledger on the JVM. */
public class Ledger implements Summing<Double> {
    public static final int LIMIT = 10;
    private final List<Double> entries;

    public Ledger(List<Double> entries) {
        this.entries = entries;
    }

    @Override
    public Double sum() {
        return entries.stream().mapToDouble(e -> e).sum();
    }
}
