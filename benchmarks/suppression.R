# Cell suppression by GaussSuppression (Langsrud 2024) on the flows of a file, and whether it finds something to
# add to tables that were laid of bricks. Prints one JSON object.
suppressPackageStartupMessages(library(GaussSuppression))
asked <- commandArgs(trailingOnly = TRUE)
flows <- read.csv(asked[1])
levels <- as.integer(asked[2])
k <- 10
depth <- nchar(flows$origin[1]) - 1
sides <- c()
inner <- c("origin:destination")
for (level in seq_len(levels)) {
  for (side in c("origin", "destination")) {
    name <- paste0(side, level)
    flows[[name]] <- substr(flows[[side]], 1, 1 + depth - level)
    sides <- c(sides, name)
  }
  inner <- c(inner, paste0("origin", level, ":destination", level))
}
wanted <- as.formula(paste("~", paste(c("origin", "destination", sides, inner), collapse = " + ")))
quietly <- function(...) invisible(capture.output(...))

started <- proc.time()
quietly(theirs <- SuppressSmallCounts(flows, formula = wanted, freqVar = "trips", maxN = k - 1,
  protectZeros = FALSE, extend0 = FALSE, printInc = FALSE))
spent <- sum((proc.time() - started)[c(1, 2)])

# Our cells as columns over flows, and every cell of any table that is small: can it be solved for?
told <- c("released", grep("^table", names(flows), value = TRUE))
columns <- list()
for (name in told) {
  here <- flows[[name]] > 0
  columns[[name]] <- Matrix::sparseMatrix(i = which(here), j = flows[[name]][here], x = 1,
    dims = c(nrow(flows), max(flows[[name]])))
}
published <- do.call(cbind, columns)
every <- SSBtools::ModelMatrix(flows, formula = wanted)
few <- every[, as.vector(Matrix::crossprod(every, flows$trips)) < k, drop = FALSE]
x <- cbind(published, few)
quietly(hidden <- SSBtools::GaussSuppression(x, candidates = seq_len(ncol(published)),
  primary = ncol(published) + seq_len(ncol(few)), forced = integer(0), hidden = integer(0), printInc = FALSE))
added <- sum(hidden <= ncol(published))
cat(sprintf(
  '{"cpu_s": %.2f, "cells": %d, "small": %d, "published": %d, "added": %d, "ours": %d, "asked": %d}\n',
  spent, nrow(theirs), sum(theirs$primary), sum(!theirs$suppressed), added, ncol(published), ncol(few)
))
