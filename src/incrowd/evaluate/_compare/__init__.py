"""Any mechanisms with any settings, on one dataset, side by side.

::

    methods     "glove,generalise:1000m:30min" ──> columns: a mechanism with settings each
    column      column ──> protect ──> write, verify ──> Context    one after another, each kept
    samples     which published sample stands for which true one, points and boxes alike
    measures    Context ──> a number, or why there is none          MEASURES: one entry a row
    run         columns ──> Comparison
    result      Comparison: table, JSON, CSV, chart
    words       Comparison ──> lines for a terminal
"""
