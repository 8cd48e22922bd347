"""What all pages share: one offline file each, charts, rasters, outlines and small maps."""
