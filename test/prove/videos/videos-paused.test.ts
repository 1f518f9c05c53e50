import { program } from './videos-paused.ts'
import { short } from '../short.ts'

await short('videos-paused', program)
