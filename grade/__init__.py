"""Cell-by-cell grading of reproduced tables against published ones."""
